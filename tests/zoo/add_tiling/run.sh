#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
SOC_VERSION=${1:-Ascend910B2}
: ${ASCEND_HOME_DIR:?please source set_env.sh first}
CUR=$(cd $(dirname $0); pwd)
cd $CUR
rm -rf build; mkdir build; cd build
cmake .. -DSOC_VERSION=$SOC_VERSION
make -j4
cd $CUR
python3 scripts/gen_data.py
./build/main
python3 scripts/verify_result.py output/output_z.bin output/golden.bin
