#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# builds and runs both forms: first under the cpu debug library, then on the device
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
soc=Ascend910B1
while getopts "v:" o; do
    case $o in
        v) soc=$OPTARG ;;
        *) exit 1 ;;
    esac
done
cd "$here"
for mode in cpu npu; do
    echo "=== $mode ==="
    rm -rf build_$mode data
    mkdir -p data
    cmake -S . -B build_$mode -DRUN_MODE=$mode -DSOC_VERSION=$soc -DASCEND_CANN_PACKAGE_PATH="$ASCEND_HOME_PATH" > /dev/null
    cmake --build build_$mode
    python3 scripts/gen_data.py
    LD_LIBRARY_PATH=$ASCEND_HOME_PATH/tools/tikicpulib/lib/$soc:$LD_LIBRARY_PATH ./build_$mode/leakyrelu_$mode
    python3 scripts/verify_result.py $mode
done
echo "both modes ok"
