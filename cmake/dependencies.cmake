# Everything around the heart comes from the distribution's packages; nothing is copied in here.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)

# {fmt} by its headers alone costs every source two seconds of compiling the same functions, and its shared library
# would bind the binary; version 9 (Debian 12, Ubuntu 24.04) is compiled once, others are taken header-only.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(gpusonde_fmt INTERFACE)
  get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(gpusonde_fmt SYSTEM INTERFACE ${fmt_include})
  set(GPUSONDE_FMT_SOURCE ${PROJECT_SOURCE_DIR}/cmake/fmt_once.cpp)
else()
  add_library(gpusonde_fmt INTERFACE)
  target_link_libraries(gpusonde_fmt INTERFACE fmt::fmt-header-only)
  set(GPUSONDE_FMT_SOURCE "")
endif()

# toml++ by its headers: the distribution's CMake target would bind the binary to libtomlplusplus.so.
find_path(GPUSONDE_TOML_INCLUDE toml++/toml.h DOC "folder that holds toml++/toml.h (toml++ 3.0 or newer)")
if(NOT GPUSONDE_TOML_INCLUDE)
  message(FATAL_ERROR "gpusonde needs toml++ 3.0 or newer (package libtomlplusplus-dev); "
                      "set GPUSONDE_TOML_INCLUDE to the folder that holds toml++/toml.h")
endif()
add_library(gpusonde_toml INTERFACE)
target_include_directories(gpusonde_toml SYSTEM INTERFACE ${GPUSONDE_TOML_INCLUDE})
target_compile_definitions(gpusonde_toml INTERFACE TOML_HEADER_ONLY=1)

# d3 for the interactive report; without it the report carries static figures only.
find_file(GPUSONDE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH
          DOC "d3.min.js (version 5) to embed in the HTML report")
if(NOT GPUSONDE_D3)
  message(STATUS "gpusonde: no d3.min.js found (package node-d3): the HTML report will have static figures only")
endif()
