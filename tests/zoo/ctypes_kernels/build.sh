#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: build.sh  -> libkernels.so
bisheng -x asc --npu-arch=dav-2201 -O2 -shared -fPIC kernels.cpp -o libkernels.so -I${ASCEND_HOME_PATH}/include
