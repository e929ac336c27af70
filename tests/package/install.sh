#!/usr/bin/env bash
# usage: install.sh BUILD SCRATCH
# Installs into a prefix and builds a program against it by find_package(gpusonde).
source "$(dirname "$0")/common.sh"
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log" || fail "$(cat "$scratch/install.log")"
check_prefix "$prefix"
must_exist "$prefix/share/zsh/site-functions/_gpusonde" "$prefix/include/gpusonde/run.hpp"

cmake -S "$(dirname "$0")/consumer" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  >"$scratch/configure.log"
cmake --build "$scratch/consumer"
"$scratch/consumer/consumer"
