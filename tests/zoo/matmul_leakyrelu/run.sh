#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
SHORT=r:,v:
LONG=run-mode:,soc-version:
OPTS=$(getopt -a --options $SHORT --longoptions $LONG -- "$@")
eval set -- "$OPTS"
while :; do
    case "$1" in
        (-r | --run-mode) RUN_MODE="$2"; shift 2 ;;
        (-v | --soc-version) SOC_VERSION="$2"; shift 2 ;;
        (--) shift; break ;;
    esac
done
set -e
rm -rf build out input output
mkdir build
cmake -B build -DRUN_MODE=${RUN_MODE} -DSOC_VERSION=${SOC_VERSION} -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX=$(pwd)/out -DASCEND_CANN_PACKAGE_PATH=${ASCEND_HOME_PATH}
cmake --build build -j && cmake --install build
python3 scripts/gen_data.py
export LD_LIBRARY_PATH=$(pwd)/out/lib:${LD_LIBRARY_PATH}
./out/bin/matmul_leakyrelu_app
python3 scripts/verify_result.py output/output.bin output/golden.bin
