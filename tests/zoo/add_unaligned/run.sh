#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
clear () { rm -rf build; }
build () {
    cmake -B build -DASCEND_PRODUCT_TYPE=${1:-ascend910b1} -DASCEND_RUN_MODE=ONBOARD -DASCEND_INSTALL_PATH=${ASCEND_INSTALL_PATH}
    cmake --build build -j 8
}
run () { ./build/execute_add_unaligned; }
main () { clear; build $1; run; }
main $@
