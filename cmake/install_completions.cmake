# Run by `cmake --install`: has the program write its shell completions, and puts each where its shell
# looks. `program` and `scratch` are set by the caller.
set(zsh_folder site-functions)
if("${CMAKE_INSTALL_PREFIX}" STREQUAL "/usr")
  set(zsh_folder vendor-completions)  # what Debian's zsh reads for packages
endif()
foreach(entry bash:bash-completion/completions:gpusonde zsh:zsh/${zsh_folder}:_gpusonde
        fish:fish/vendor_completions.d:gpusonde.fish)
  string(REPLACE ":" ";" entry ${entry})
  list(GET entry 0 shell)
  list(GET entry 1 folder)
  list(GET entry 2 name)
  file(MAKE_DIRECTORY ${scratch})
  execute_process(COMMAND ${program} completion ${shell} OUTPUT_FILE ${scratch}/${name} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'${program} completion ${shell}' failed (${status}); build the program before installing")
  endif()
  file(INSTALL ${scratch}/${name} DESTINATION "${CMAKE_INSTALL_PREFIX}/share/${folder}")
endforeach()
