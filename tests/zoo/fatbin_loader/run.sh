#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source "${ASCEND_HOME_PATH}/bin/setenv.bash"
echo "soc: ${SOC_VERSION}"
cmake -B build -DCMAKE_INSTALL_PREFIX=$PWD/out -DSOC_VERSION=${SOC_VERSION}
cmake --build build -j
cmake --install build
./out/bin/loader
