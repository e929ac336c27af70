#!/usr/bin/env bash
# usage: whole_command.sh [PROGRAM] [DEVICE]
# Times whole commands, start to end, as a user waits for them: by hyperfine where there is one, else
# the best of three by the shell's clock.
set -euo pipefail
export LC_ALL=C # a point in EPOCHREALTIME
program=$(readlink -f "${1:-build/release/bin/gpusonde}")
device=${2:-sim:rtx4090}
[ -x "$program" ] || { echo "whole_command.sh: no program $program; './dev build' makes it" >&2; exit 2; }

names=("--help" "latency, quick" "latency, dense, ca and cg" "survey, quick" "survey"
  "cache l1" "slices" "cache l2" "map"
  "coalesce" "instr" "memories" "crossbar" "dram" "bandwidth" "load")
commands=("--help" "latency -q -d $device --preset quick" "latency -q -d $device --preset dense --policy ca,cg"
  "survey -q -d $device --quick" "survey -q -d $device"
  "cache l1 -q -d $device" "slices -q -d $device" "cache l2 -q -d $device" "map -q -d $device"
  "coalesce -q -d $device" "instr -q -d $device" "memories -q -d $device" "crossbar -q -d $device"
  "dram -q -d $device" "bandwidth -q -d $device" "load -q -d $device")

if command -v hyperfine >/dev/null; then
  arguments=(--warmup 1 --runs 3 --style basic)
  for i in "${!names[@]}"; do arguments+=(--command-name "${names[$i]}" "$program ${commands[$i]}"); done
  exec hyperfine "${arguments[@]}"
fi

printf '%-28s %s\n' "$device" "best of 3, s"
for i in "${!names[@]}"; do
  best=
  for _ in 1 2 3; do
    begin=${EPOCHREALTIME/./}
    # shellcheck disable=SC2086 # the command's words
    "$program" ${commands[$i]} >/dev/null
    spent=$((${EPOCHREALTIME/./} - begin))
    if [ -z "$best" ] || [ "$spent" -lt "$best" ]; then best=$spent; fi
  done
  printf '%-28s %d.%03d\n' "${names[$i]}" $((best / 1000000)) $((best / 1000 % 1000))
done
