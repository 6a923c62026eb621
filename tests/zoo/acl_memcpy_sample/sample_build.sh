#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# puts the program into out/
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
WORK=$TOP/build/intermediates/host
mkdir -p "$WORK" && cd "$WORK" || exit 1
if ! cmake "$TOP/src" -DCMAKE_CXX_COMPILER=g++ -DCMAKE_SKIP_RPATH=TRUE; then
    echo "[ERROR] configure step went wrong"
    exit 1
fi
if ! make; then
    echo "[ERROR] compile step went wrong"
    exit 1
fi
echo "[INFO] program is in $TOP/out"
