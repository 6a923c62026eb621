#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bash run.sh <soc>
set -e
cd `dirname $0`
export SOC_VERSION=$1
rm -fr build out
cmake -S . -B build -DSOC_VERSION=$1 -DCMAKE_INSTALL_PREFIX=`pwd`/out
cmake --build build --target install
python3 scripts/gen_data.py
LD_LIBRARY_PATH=`pwd`/out/lib:$LD_LIBRARY_PATH out/bin/mmad_main
python3 scripts/verify_result.py
