#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks with clang's thread-safety analysis that the locks of every file of src/ are held where they must be.
#   scripts/check_locks.sh [FILE]...    these files; without any, all of src/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

compiler=""
for name in clang++-19 clang++-18 clang++-17 clang++-16 clang++; do
    if command -v "$name" > /dev/null; then
        compiler="$name"
        break
    fi
done
[[ -n $compiler ]] || { echo "check_locks: needs clang: scripts/setup.sh build" >&2 && exit 1; }

files=("$@")
[[ $# -gt 0 ]] || mapfile -t files < <(find src -name '*.cpp' -not -path 'src/fmt_library/*' | sort)
messages="$(printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" "$compiler" -std=c++20 -fsyntax-only -Wthread-safety -Isrc -Iinclude -Iinclude/pkg_inc \
        -DCANOPY_IMPLEMENTATION '-DCANOPY_VERSION="0"' 2>&1 || true)"
if [[ -n $messages ]]; then
    echo "$messages"
    echo "check_locks: $compiler has complaints" >&2
    exit 1
fi
echo "check_locks: the locks of ${#files[@]} files are held where they must be"
