#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks that every C and C++ file is laid out as clang-format 14 with .clang-format lays it out.
#   scripts/check_format.sh         lists the files that are not, and fails if there are any
#   scripts/check_format.sh --fix   rewrites them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

formatter=clang-format-14
command -v "$formatter" > /dev/null || formatter=clang-format
if ! "$formatter" --version 2> /dev/null | grep -q 'version 14\.'; then
    echo "check_format: needs clang-format 14, as versions differ in taste: scripts/setup.sh test" >&2
    exit 1
fi
# The programs of tests/zoo keep the layout that their authors would give them.
mapfile -t files < <(find src include toolchain tools python tests bench examples -path tests/zoo -prune -o \
    \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print | sort)

if [[ ${1:-} == --fix ]]; then
    printf '%s\n' "${files[@]}" | xargs "$formatter" -i
    exit 0
fi
# clang-format names the file and the line of each difference; the names are enough.
bad="$(printf '%s\n' "${files[@]}" | xargs "$formatter" --dry-run 2>&1 | sed -n 's/^\(.*\.[a-z]*\):[0-9]*:[0-9]*: warning.*/\1/p' | sort -u)"
if [[ -n $bad ]]; then
    echo "$bad"
    echo "check_format: $(wc -l <<< "$bad") of ${#files[@]} files differ from .clang-format; scripts/check_format.sh --fix rewrites them" >&2
    exit 1
fi
echo "check_format: ${#files[@]} files are well laid out"
