#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# builds the operators, installs them, and calls them from a program that knows the installed package only
set -e
cd "$(dirname "$0")"
top=$PWD
bash build.sh
./build_out/custom_opp_*.run --install-path=$top/opp
rm -rf build_out
source $top/opp/vendors/customize/bin/set_env.bash
cmake -S AclNNInvocation -B AclNNInvocation/build -DCUST_PKG_PATH=$top/opp/vendors/customize/op_api
cmake --build AclNNInvocation/build
AclNNInvocation/build/execute_op
