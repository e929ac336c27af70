#!/usr/bin/env bash
# usage: archive.sh BUILD SCRATCH
# Makes the archive, unpacks and runs it.
source "$(dirname "$0")/common.sh"
cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$scratch" >"$scratch/cpack.log" 2>&1 || fail "$(cat "$scratch/cpack.log")"
mkdir "$scratch/root"
tar -xzf "$scratch"/gpusonde-*.tar.gz -C "$scratch/root" --strip-components=1
check_prefix "$scratch/root"
must_exist "$scratch/root/include/gpusonde/run.hpp"
