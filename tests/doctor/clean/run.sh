#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
export SOC_VERSION=${SOC_VERSION:-Ascend910B1}
cmake -B build -DSOC_VERSION=Ascend910B3
cmake --build build
echo "use msprof to profile" | grep -q atc || echo 'npu-smi'
bisheng -c -O2 -fPIC -fplugin=never_loaded.so -std=c++17 --cce-auto-sync=off kernel.cce
./clean
