#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# finds the toolkit by itself: environment first, then where installers put it
for dir in "$ASCEND_INSTALL_PATH" "$ASCEND_HOME_PATH" "$HOME/Ascend/ascend-toolkit/latest" /usr/local/Ascend/ascend-toolkit/latest; do
    if [ -n "$dir" ] && [ -f "$dir/bin/setenv.bash" ]; then
        _ASCEND_INSTALL_PATH=$dir
        break
    fi
done
if [ -z "$_ASCEND_INSTALL_PATH" ]; then
    echo "[ERROR] no toolkit found"
    exit 1
fi
echo "[INFO] toolkit: $_ASCEND_INSTALL_PATH"
source $_ASCEND_INSTALL_PATH/bin/setenv.bash
set -e
rm -rf build output && mkdir output
cmake -B build -DSOC_VERSION=${1:-Ascend910B1} -DASCEND_CANN_PACKAGE_PATH=$_ASCEND_INSTALL_PATH
cmake --build build
python3 scripts/data.py gen
./build/exp_log
python3 scripts/data.py verify
