#!/bin/sh
# Makes the committed PTX again; needs clang-14 and no CUDA toolkit. With a folder as argument the PTX
# goes there instead, for comparison with what is committed.
#
# sm_70 and PTX 6.0: any driver since CUDA 9 and any chip from Volta on takes it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/kernels}
clang=${CLANG:-clang-14}
for kernel in base chase chase_timed; do
  "$clang" --cuda-path=/nonexistent -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib \
    -std=c++20 -O3 -Wall -Wextra -Werror -I "$here/../.." -I "$here" \
    -S -o "$out/$kernel.ptx" "$here/kernels/$kernel.cu"
done
