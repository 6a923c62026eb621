#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
while getopts r:v: o; do [ $o = r ] && MODE=$OPTARG || SOC=$OPTARG; done
rm -rf build
cmake -B build -DRUN_MODE=$MODE -DSOC_VERSION=$SOC
cmake --build build -j
export LD_LIBRARY_PATH=$ASCEND_HOME_PATH/tools/tikicpulib/lib:$ASCEND_HOME_PATH/tools/tikicpulib/lib/$SOC:$ASCEND_HOME_PATH/tools/simulator/$SOC/lib:$LD_LIBRARY_PATH
./build/matmul_debug $SOC
