#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
bisheng -xcce -O3 -std=c++17 --cce-aicore-arch=dav-c220-vec -mllvm -cce-aicore-addr-transform \
    -mllvm -cce-aicore-stack-size=0x8000 -I$ASCEND_HOME_PATH/include \
    -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw/impl \
    -I$ASCEND_HOME_PATH/compiler/tikcpp/tikcfw/interface \
    scaled_add.cpp -o scaled_add -L$ASCEND_HOME_PATH/lib64 -lascendcl -lruntime
./scaled_add
