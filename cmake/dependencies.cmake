# Everything around the heart comes from the distribution's packages; nothing is copied in here.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)

# d3 for the interactive report; without it the report carries static figures only.
find_file(GPUSONDE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH
          DOC "d3.min.js (version 5) to embed in the HTML report")
if(NOT GPUSONDE_D3)
  message(STATUS "gpusonde: no d3.min.js found (package node-d3): the HTML report will have static figures only")
endif()
