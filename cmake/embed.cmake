# gpusonde_embed(TARGET room SYMBOL name FILE path): the file's bytes as
# `extern const std::string_view NAME` in namespace gpusonde::embedded, NUL-terminated after its end.
set(GPUSONDE_EMBED_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake)
function(gpusonde_embed)
  cmake_parse_arguments(E "" "TARGET;SYMBOL;FILE" "" ${ARGN})
  set(out ${PROJECT_BINARY_DIR}/embedded/${E_SYMBOL}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${E_FILE} -DOUT=${out} -DSYMBOL=${E_SYMBOL} -P ${GPUSONDE_EMBED_SCRIPT}
    DEPENDS ${E_FILE} ${GPUSONDE_EMBED_SCRIPT} VERBATIM)
  target_sources(${E_TARGET} PRIVATE ${out})
endfunction()
