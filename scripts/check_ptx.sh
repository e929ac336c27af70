#!/usr/bin/env bash
# usage: check_ptx.sh
# The committed PTX must be what clang 14 makes of the committed kernels: makes it anew and compares.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
src/target/cuda/make_ptx.sh "$made"
status=0
count=0
for committed in src/target/cuda/kernels/*.ptx; do
  [ -e "$committed" ] || continue
  diff -u "$committed" "$made/$(basename "$committed")" || status=1
  count=$((count + 1))
done
[ "$count" -eq "$(find "$made" -name '*.ptx' | wc -l)" ] || { echo "not every kernel's PTX is committed" >&2; status=1; }
[ "$status" -eq 0 ] || echo "the PTX differs; run './dev ptx' and commit what it makes" >&2
exit "$status"
