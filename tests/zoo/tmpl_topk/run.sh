#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")"
bisheng -x asc --npu-arch=dav-2201 -std=c++17 -O2 -I. -I"${ASCEND_HOME_PATH}/include" \
    test_topk.cpp -o test_topk -L"${ASCEND_HOME_PATH}/lib64" -lascendcl -lstdc++
./test_topk
