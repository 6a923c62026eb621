#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: build.sh <example>
set -e
SCRIPT_PATH=$(dirname $(realpath $0))
TARGET=${1:-basic_gemm}
OUTPUT_PATH=$SCRIPT_PATH/output/bin
mkdir -p $OUTPUT_PATH

bisheng -O2 -std=c++17 -xcce --cce-aicore-arch=dav-c220 \
    -mllvm -cce-aicore-stack-size=0x8000 \
    -mllvm -cce-aicore-function-stack-size=0x8000 \
    -mllvm -cce-aicore-record-overflow=true \
    -mllvm -cce-aicore-addr-transform \
    -mllvm -cce-aicore-dcci-insert-for-scalar=false \
    -DL2_CACHE_HINT -DCATCH_NOTHING=1 \
    -I$ASCEND_HOME_PATH/compiler/tikcpp -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw \
    -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw/impl -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw/interface \
    -I$ASCEND_HOME_PATH/include -I$ASCEND_HOME_PATH/include/experiment/runtime -I$ASCEND_HOME_PATH/include/experiment/msprof \
    -I$SCRIPT_PATH/include \
    -L$ASCEND_HOME_PATH/lib64 -Wno-macro-redefined -Wno-ignored-attributes \
    -lruntime -lstdc++ -lascendcl -lm -ltiling_api -lplatform -lc_sec -ldl -lnnopbase \
    $SCRIPT_PATH/examples/$TARGET.cpp -o $OUTPUT_PATH/$TARGET
echo "Build $TARGET done."
