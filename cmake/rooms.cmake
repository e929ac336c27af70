# A room is one CMake library linked only to the rooms it may use. Each room's headers are visible
# under their path from src/ (`core/units.hpp`), and only to rooms that link it, so a wrong include
# does not build: the include folder of a room holds links to that room's headers alone.

add_library(gpusonde_options INTERFACE)
target_compile_features(gpusonde_options INTERFACE cxx_std_20)
target_compile_options(gpusonde_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                       $<$<BOOL:${GPUSONDE_WERROR}>:-Werror>)
# GCC 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
target_compile_options(gpusonde_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Out of precompiled headers GCC 12 also warns of std::string's own copies out of its short buffer; the address
# sanitizer sees the true ones. The last option is what ccache asks for.
if(GPUSONDE_PCH)
  target_compile_options(gpusonde_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overread
                         -Wno-stringop-overflow -fpch-preprocess>)
endif()
if(GPUSONDE_SANITIZE)
  target_compile_options(gpusonde_options INTERFACE -fsanitize=${GPUSONDE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  # GCC 12 sees uninitialised reads inside std::regex and std::function when it compiles for the sanitizers.
  target_compile_options(gpusonde_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(gpusonde_options INTERFACE -fsanitize=${GPUSONDE_SANITIZE})
endif()

# What most sources include is parsed once for all rooms, and once for all tests. clang-tidy parses each source without
# it (scripts/tidy.py), so an include that is missing does not go unseen.
set(GPUSONDE_PCH_HEADERS <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <filesystem> <functional> <limits> <map>
    <memory> <numeric> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>
    <tl/expected.hpp>)
# gpusonde_precompiled(NAME OPTIONS ... LIBRARIES ... HEADERS ...): headers that gpusonde_use_precompiled(TARGET NAME)
# takes; the target's options must be the same.
function(gpusonde_precompiled NAME)
  cmake_parse_arguments(P "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  if(GPUSONDE_PCH)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${NAME}.cpp CONTENT "// Holds the precompiled headers.\n")
    add_library(gpusonde_pch_${NAME} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${NAME}.cpp)
    target_link_libraries(gpusonde_pch_${NAME} PRIVATE gpusonde_options tl::expected gpusonde_fmt ${P_LIBRARIES})
    target_compile_options(gpusonde_pch_${NAME} PRIVATE ${P_OPTIONS})
    target_precompile_headers(gpusonde_pch_${NAME} PRIVATE ${GPUSONDE_PCH_HEADERS} ${P_HEADERS})
  endif()
endfunction()
function(gpusonde_use_precompiled TARGET NAME)
  if(GPUSONDE_PCH)
    target_precompile_headers(${TARGET} REUSE_FROM gpusonde_pch_${NAME})
  endif()
endfunction()

add_library(gpusonde_api INTERFACE)
target_include_directories(gpusonde_api INTERFACE ${PROJECT_SOURCE_DIR}/include)

set_property(GLOBAL PROPERTY GPUSONDE_ROOMS "")

# gpusonde_room(NAME target_sim FOLDER target/sim USES model experiment ... [LIBRARIES fmt::fmt ...])
function(gpusonde_room)
  cmake_parse_arguments(ROOM "" "NAME;FOLDER" "USES;LIBRARIES" ${ARGN})
  set(source_dir ${PROJECT_SOURCE_DIR}/src/${ROOM_FOLDER})
  file(GLOB sources CONFIGURE_DEPENDS ${source_dir}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${source_dir}/*.hpp)
  set(include_dir ${PROJECT_BINARY_DIR}/rooms/${ROOM_NAME})
  file(REMOVE_RECURSE ${include_dir})
  file(MAKE_DIRECTORY ${include_dir}/${ROOM_FOLDER})
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${include_dir}/${ROOM_FOLDER}/${name} SYMBOLIC)
  endforeach()
  set(target gpusonde_${ROOM_NAME})
  if(sources)
    add_library(${target} OBJECT ${sources})
    set(kind PUBLIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
    target_link_libraries(${target} PRIVATE gpusonde_options)
    gpusonde_use_precompiled(${target} rooms)
    set_property(GLOBAL APPEND PROPERTY GPUSONDE_ROOMS ${target})
  else()
    add_library(${target} INTERFACE)
    set(kind INTERFACE)
  endif()
  target_include_directories(${target} ${kind} ${include_dir})
  target_link_libraries(${target} ${kind} gpusonde_api tl::expected)
  foreach(used ${ROOM_USES})
    target_link_libraries(${target} ${kind} gpusonde_${used})
  endforeach()
  if(sources)
    foreach(library ${ROOM_LIBRARIES})
      target_link_libraries(${target} PRIVATE ${library})
    endforeach()
  endif()
endfunction()
