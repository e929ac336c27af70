#!/usr/bin/env bash
# usage: check_ptx.sh
# The committed PTX must be what clang 14 makes of the committed kernels: makes it anew and compares. The
# working copy is left as it was.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
kept=$(mktemp -d)
trap 'cp -p "$kept"/*.ptx src/target/cuda/; rm -rf "$kept"' EXIT
cp -p src/target/cuda/*.ptx "$kept"/
src/target/cuda/make_ptx.sh >/dev/null
status=0
for made in src/target/cuda/*.ptx; do
  diff -u "$kept/$(basename "$made")" "$made" || status=1
done
[ "$status" -eq 0 ] || echo "the PTX differs; run './dev ptx' and commit what it makes" >&2
exit "$status"
