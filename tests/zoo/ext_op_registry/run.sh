#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
SOC_VERSION=${1:-Ascend910B1}
CURRENT_DIR=$(cd $(dirname ${BASH_SOURCE:-$0}) && pwd)
cd $CURRENT_DIR
rm -rf build out
cmake -B build -DSOC_VERSION=${SOC_VERSION} -DASCEND_CANN_PACKAGE_PATH=${ASCEND_HOME_PATH} -DCMAKE_INSTALL_PREFIX=$CURRENT_DIR/out
cmake --build build -j
cmake --install build
python3 tests/test_registry.py && echo "test pass"
