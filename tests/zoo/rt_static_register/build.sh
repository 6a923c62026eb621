#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# device binary -> C array -> program
set -e
bisheng -x cce -O2 -std=c++17 --cce-aicore-arch=dav-c220-vec --cce-aicore-only -c kernels.cce -o kernels.npubin \
    -I${ASCEND_HOME_PATH}/compiler/tikcpp/tikcfw -I${ASCEND_HOME_PATH}/compiler/tikcpp/tikcfw/interface \
    -I${ASCEND_HOME_PATH}/compiler/tikcpp/tikcfw/impl
python3 embed.py kernels.npubin kernels_bin.h
g++ -O2 -std=c++14 -o app main.cc -I. -I${ASCEND_HOME_PATH}/include/experiment -I${ASCEND_HOME_PATH}/include/experiment/msprof \
    -I${ASCEND_HOME_PATH}/pkg_inc -L${ASCEND_HOME_PATH}/lib64 -lruntime
