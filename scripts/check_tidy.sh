#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 14 with .clang-tidy over the sources of the library, the compiler driver and the tools, or over those
# named. Takes about three minutes on two cores, so test.sh does it only when asked to.
#   scripts/check_tidy.sh [file]...      uses build/dev, which compiles each file alone; configures it if need be
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tidy=clang-tidy-14
command -v "$tidy" > /dev/null || { echo "check_tidy: needs $tidy: apt-get install $tidy" >&2 && exit 1; }
[[ -f build/dev/compile_commands.json ]] || cmake --preset dev > /dev/null

files=("$@")
[[ ${#files[@]} -gt 0 ]] || mapfile -t files < <(find src toolchain/driver tools/canopy -name '*.cpp' ! -path 'src/fmt_library/*' | sort)
found=0
output="$(printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 "$tidy" --quiet -p build/dev 2> /dev/null)" || found=1
if [[ $found -ne 0 ]]; then
    echo "$output"
    echo "check_tidy: problems in some of ${#files[@]} files" >&2
    exit 1
fi
echo "check_tidy: ${#files[@]} files are in order"
