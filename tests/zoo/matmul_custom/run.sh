#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
M=160; N=192; K=96; CORES=4
while [ $# -gt 0 ]; do
    case $1 in
        -v) SOC=$2; shift ;;
        -r) MODE=$2; shift ;;
    esac
    shift
done
INSTALL=${ASCEND_INSTALL_PATH:-${ASCEND_HOME_PATH:-/usr/local/Ascend/ascend-toolkit/latest}}
rm -rf build input output && mkdir -p build input output
(cd build && cmake .. -DRUN_MODE=${MODE:-npu} -DSOC_VERSION=${SOC:-Ascend910B3} -DASCEND_CANN_PACKAGE_PATH=$INSTALL && make -j)
python3 scripts/gen_data.py $M $N $K
./build/gen_tiling $M $N $K $CORES ${SOC:-Ascend910B3} input/tiling.bin
export LD_LIBRARY_PATH=$INSTALL/lib64:$LD_LIBRARY_PATH
./build/matmul_custom $CORES $((M * N))
python3 scripts/verify_result.py
