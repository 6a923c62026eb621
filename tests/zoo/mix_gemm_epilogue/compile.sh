#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
TIK=${ASCEND_HOME_PATH}/compiler/tikcpp
bisheng -O2 -std=c++17 -xcce --cce-aicore-arch=dav-c220 \
    -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
    -mllvm -cce-aicore-record-overflow=true -mllvm -cce-aicore-addr-transform --cce-disable-kernel-global-attr-check \
    -I${TIK}/tikcfw -I${TIK}/tikcfw/impl -I${TIK}/tikcfw/interface -I${ASCEND_HOME_PATH}/include \
    gemm_bias_relu.cpp -o gemm_bias_relu --cce-fatobj-link -L${ASCEND_HOME_PATH}/lib64 -lruntime -lascendcl -lstdc++ -lm
