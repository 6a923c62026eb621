#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
RUN_MODE=npu
SOC_VERSION=Ascend310P3
while getopts r:v: opt; do
    case $opt in
        r) RUN_MODE=$OPTARG ;;
        v) SOC_VERSION=$OPTARG ;;
    esac
done
set -e
rm -rf build input output
mkdir -p build input output
cd build
cmake -DRUN_MODE=$RUN_MODE -DSOC_VERSION=$SOC_VERSION -DASCEND_CANN_PACKAGE_PATH=$ASCEND_HOME_PATH ..
make
cd ..
python3 scripts/gen_data.py
./build/main
python3 scripts/verify_result.py output/y.bin output/golden.bin
