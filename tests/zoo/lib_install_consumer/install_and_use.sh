#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
top=$(cd "$(dirname "$0")"; pwd)
prefix=$top/prefix
cmake -S $top/oplib -B $top/build_lib -DCMAKE_INSTALL_PREFIX=$prefix -DSOC_VERSION=Ascend910B1
cmake --build $top/build_lib --target install
ls $prefix/lib/libop_kernels.so $prefix/include/op_kernels/aclrtlaunch_*.h
# the sources are not needed any more
mv $top/oplib $top/oplib.gone
rm -rf $top/build_lib
cmake -S $top/app -B $top/build_app -DCMAKE_PREFIX_PATH=$prefix
cmake --build $top/build_app
$top/build_app/app
