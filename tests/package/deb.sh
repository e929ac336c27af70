#!/usr/bin/env bash
# usage: deb.sh BUILD SCRATCH
# Makes the Debian packages, reads what they ask for, unpacks and runs them.
source "$(dirname "$0")/common.sh"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$scratch" >"$scratch/cpack.log" 2>&1 || fail "$(cat "$scratch/cpack.log")"
package=$(ls "$scratch"/gpusonde_*.deb)
development=$(ls "$scratch"/gpusonde-dev_*.deb)

depends=$(dpkg-deb -f "$package" Depends)
[ "$depends" = "libc6 (>= 2.34)" ] || fail "$package depends on: $depends"
[ -z "$(dpkg-deb -f "$package" Recommends)" ] || fail "$package recommends something"

dpkg-deb -x "$package" "$scratch/root"
check_prefix "$scratch/root/usr"
must_exist "$scratch/root/usr/share/zsh/vendor-completions/_gpusonde"
"$(dirname "$0")/../../scripts/check_binary.sh" "$scratch/root/usr/bin/gpusonde"

dpkg-deb -c "$development" >"$scratch/development.txt"
for file in libgpusonde.a include/gpusonde/run.hpp cmake/gpusonde/gpusondeConfig.cmake; do
  grep -q "$file" "$scratch/development.txt" || fail "$development has no $file"
done
