#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bash run.sh <op> <soc> <core type> <cpu|npu>, for example: bash run.sh reduce_custom ascend910B1 VectorCore npu
if [ $# -ne 4 ]; then
    echo "usage: bash run.sh <op> <soc> <AiCore|VectorCore> <cpu|npu>"
    exit 1
fi
export OP_NAME=$1 SOC=$2 CORE_TYPE=$3 RUN_PLACE=$4
rm -rf build data
mkdir -p build
cd build
cmake .. -DOP_NAME=$OP_NAME -DRUN_PLACE=$RUN_PLACE -DPRODUCT=$SOC -DCORE_TYPE=$CORE_TYPE && make || exit 1
cd ..
python3 $OP_NAME.py gen
./${OP_NAME}_${RUN_PLACE} || exit 1
python3 $OP_NAME.py check
