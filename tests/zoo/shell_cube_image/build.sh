#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# no cmake, no make: three commands
set -ex
ASCEND=${ASCEND_HOME_PATH:-/usr/local/Ascend/ascend-toolkit/latest}
CC=$(which ccec 2>/dev/null || echo $ASCEND/compiler/ccec_compiler/bin/ccec)
FLAGS="-c -O2 --cce-aicore-arch=dav-c220-cube -std=c++17"
FLAGS="$FLAGS -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000"
FLAGS="$FLAGS -mllvm -cce-aicore-record-overflow=true -mllvm -cce-aicore-addr-transform"
$CC -x cce $FLAGS --cce-aicore-only -I$ASCEND/compiler/tikcpp/tikcfw gemm.cce -o gemm.o
g++ -O2 -std=c++17 -I$ASCEND/include host.cpp -o host -L$ASCEND/lib64/stub -L$ASCEND/lib64 -lascendcl
./host ./gemm.o gemm_f16
