#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
rm -rf build out
cmake -B build -DCMAKE_INSTALL_PREFIX=./out -DCMAKE_BUILD_TYPE=Release
cmake --build build -j"$(nproc)"
cmake --install build
./out/bin/histogram_test
