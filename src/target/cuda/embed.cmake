# The committed PTX, made by make_ptx.sh, goes into the binary: users need neither nvcc nor clang.
foreach(kernel base chase chase_timed cluster line_map loads memories sequence sequence_l2)
  gpusonde_embed(TARGET gpusonde_target_cuda SYMBOL ${kernel}_ptx
                 FILE ${CMAKE_CURRENT_SOURCE_DIR}/target/cuda/kernels/${kernel}.ptx)
endforeach()
