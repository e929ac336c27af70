#!/usr/bin/env bash
# usage: check_binary.sh PROGRAM
# Holds the released program to its promises: it asks for nothing newer than glibc 2.34, for no library
# but glibc's, is stripped, and is smaller than 9 MB.
set -euo pipefail
program=$1
floor=2.34
most_bytes=9000000
status=0
fail() { echo "$program: $*" >&2; status=1; }

newest=$(objdump -T "$program" | grep -oE 'GLIBC_[0-9]+(\.[0-9]+)+' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
[ -n "$newest" ] || fail "no glibc symbols found; is it a dynamic program?"
if [ "$(printf '%s\n%s\n' "$newest" "$floor" | sort -V | tail -n 1)" != "$floor" ]; then
  fail "asks for glibc $newest, the floor is $floor:"
  objdump -T "$program" | grep -F "GLIBC_$newest" >&2
fi

needed=$(objdump -p "$program" | awk '/NEEDED/ { print $2 }' | grep -vE '^(libc|libm|libdl|libpthread|ld-linux[^.]*)\.so' || true)
[ -z "$needed" ] || fail "needs libraries besides glibc: $(echo "$needed" | tr '\n' ' ')"

if objdump -h "$program" | grep -q ' \.symtab\| \.debug_info'; then fail "is not stripped"; fi
if [ -n "$(objdump -t "$program" 2>/dev/null | grep -E '^[0-9a-f]{8}' | head -n 1)" ]; then fail "is not stripped"; fi

bytes=$(stat -L -c %s "$program")
[ "$bytes" -lt "$most_bytes" ] || fail "is $bytes bytes, $most_bytes is the limit"

[ "$status" -ne 0 ] || echo "$program: glibc $newest or newer, $bytes bytes, stripped"
exit "$status"
