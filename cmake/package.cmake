# What `cmake --install` and `cpack` lay down. Two components: `runtime`, the program and what it reads,
# which needs glibc alone; `development`, the library for find_package(gpusonde).
include(CMakePackageConfigHelpers)

set(GPUSONDE_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/gpusonde)

install(TARGETS gpusonde_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/gpusonde COMPONENT runtime
        FILES_MATCHING PATTERN "*.toml")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${GPUSONDE_DOC_DIR} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${GPUSONDE_DOC_DIR} RENAME copyright COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${GPUSONDE_DOC_DIR} COMPONENT runtime
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.svg")

# The program itself writes its completions, so they cannot lag behind its options.
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "set(program \"$<TARGET_FILE:gpusonde_cli>\")
set(scratch \"${PROJECT_BINARY_DIR}/completions\")" COMPONENT runtime)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_completions.cmake COMPONENT runtime)
endif()

install(TARGETS gpusonde EXPORT gpusondeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gpusonde DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(EXPORT gpusondeTargets NAMESPACE gpusonde:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gpusonde
        COMPONENT development)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/gpusondeConfig.cmake.in ${PROJECT_BINARY_DIR}/gpusondeConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gpusonde NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpusondeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gpusondeConfig.cmake ${PROJECT_BINARY_DIR}/gpusondeConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gpusonde COMPONENT development)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "The gpusonde authors")
set(CPACK_PACKAGE_CONTACT "The gpusonde authors <gpusonde@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "work out a GPU's memory hierarchy from timing alone")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
# One archive with everything; one .deb a component.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME gpusonde)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6 (>= 2.34)")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "Sends probes down the memory hierarchy of an NVIDIA GPU, or of a simulated one,
and reports what their timing tells: latencies, capacities, levels.
It needs the NVIDIA driver for a real GPU, and nothing for a simulated one.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME gpusonde-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libexpected-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Library, headers and CMake package of gpusonde.")
include(CPack)
