#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
cd "$(dirname "$0")"
rm -rf build_out
mkdir -p build_out
cmake -S . -B build_out
cmake --build build_out --target binary -j2
cmake --build build_out --target package -j2
ls build_out/custom_opp_*.run
