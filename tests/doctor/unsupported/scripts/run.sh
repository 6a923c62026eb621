#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# atc --model=x in a comment does not count
source /usr/local/Ascend/ascend-toolkit/set_env.sh
echo "npu-smi info in a text does not count"
chip=$(npu-smi info | awk 'NR==7 {print $3}')
cat << TEXT
msprof ./main
TEXT
msopprof --application=./main
if [ "$1" = check ]; then
    mssanitizer ./main
fi
bisheng -c -mllvm -cce-aicore-stack-size=0x8000 -std=c++99 kernel.cce
g++ main.o -ltorch_npu -o main
./main -ltorch_npu
