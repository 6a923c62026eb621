#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sh run.sh [soc]
cd "$(dirname "$0")" || exit 1
[ -n "$1" ] && SOC_VERSION=$1
export SOC_VERSION
cmake -B build -DSOC_VERSION="$SOC_VERSION" && cmake --build build && ./build/test_broadcast
