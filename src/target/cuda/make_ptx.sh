#!/bin/sh
# Makes the committed PTX again; needs clang-14 and no CUDA toolkit. With a folder as argument the PTX
# goes there instead, for comparison with what is committed.
#
# sm_70 and PTX 6.0: any driver since CUDA 9 and any chip from Volta on takes it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/kernels}
clang=${CLANG:-clang-14}
# make KERNEL ARCHITECTURE [OPTION...]
make() {
  kernel=$1 architecture=$2
  shift 2
  "$clang" --cuda-path=/nonexistent -x cuda --cuda-device-only --cuda-gpu-arch="$architecture" -nocudainc -nocudalib \
    -std=c++20 -O3 -Wall -Wextra -Werror -I "$here/../.." -I "$here" "$@" \
    -S -o "$out/$kernel.ptx" "$here/kernels/$kernel.cu"
}
for kernel in base chase chase_timed line_map loads memories sequence; do make "$kernel" sm_70; done
# Loads with an L2 prefetch size, and lines dropped from L2: PTX 7.4 and sm_80.
make sequence_l2 sm_80 -Xclang -target-feature -Xclang +ptx74
# Clusters: PTX 7.8 and sm_90, which clang 14 does not know but passes on.
make cluster sm_80 -Xclang -target-feature -Xclang +ptx74
sed -i -e 's/^\.version .*/.version 7.8/' -e 's/^\.target .*/.target sm_90/' "$out/cluster.ptx"
