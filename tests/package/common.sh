# Helpers of the package tests; sourced with BUILD and SCRATCH as the first two arguments.
set -euo pipefail
build=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"

fail() { echo "$*" >&2; exit 1; }
must_exist() {
  local path
  for path in "$@"; do [ -s "$path" ] || fail "$path is missing or empty"; done
}

# The program as laid down under PREFIX works away from its build folder, and is as promised.
check_prefix() {
  local prefix=$1
  must_exist "$prefix/bin/gpusonde" "$prefix/share/gpusonde/models/rtx4090.toml" \
    "$prefix/share/bash-completion/completions/gpusonde" "$prefix/share/fish/vendor_completions.d/gpusonde.fish" \
    "$prefix/share/doc/gpusonde/README.md" "$prefix/share/doc/gpusonde/copyright"
  bash -n "$prefix/share/bash-completion/completions/gpusonde"
  (
    cd /
    env -i PATH=/usr/bin:/bin "$prefix/bin/gpusonde" --version
    env -i PATH=/usr/bin:/bin "$prefix/bin/gpusonde" models | grep -q rtx4090 || fail "no rtx4090 among the models"
  )
}
