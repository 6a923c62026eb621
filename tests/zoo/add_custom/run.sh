#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: bash run.sh -r [cpu|sim|npu] -v <soc version>
cd "$(dirname "${BASH_SOURCE[0]}")"
BUILD_TYPE=Debug
INSTALL_PREFIX=$(pwd)/out
SOC_VERSION=Ascend910B1

ARGS=$(getopt -a -o r:v:i:b: -l run-mode:,soc-version:,install-path:,build-type: -- "$@") || exit 1
eval set -- "$ARGS"
while true; do
    case "$1" in
        -r|--run-mode) RUN_MODE=$2; shift 2 ;;
        -v|--soc-version) SOC_VERSION=$2; shift 2 ;;
        -i|--install-path) ASCEND_INSTALL_PATH=$2; shift 2 ;;
        -b|--build-type) BUILD_TYPE=$2; shift 2 ;;
        --) shift; break ;;
    esac
done
case " cpu sim npu " in
    *" $RUN_MODE "*) ;;
    *) echo "ERROR: -r must be cpu, sim or npu"; exit 1 ;;
esac

if [ -n "$ASCEND_INSTALL_PATH" ]; then
    _ASCEND_INSTALL_PATH=$ASCEND_INSTALL_PATH
elif [ -n "$ASCEND_HOME_PATH" ]; then
    _ASCEND_INSTALL_PATH=$ASCEND_HOME_PATH
elif [ -d "$HOME/Ascend/ascend-toolkit/latest" ]; then
    _ASCEND_INSTALL_PATH=$HOME/Ascend/ascend-toolkit/latest
else
    _ASCEND_INSTALL_PATH=/usr/local/Ascend/ascend-toolkit/latest
fi
source $_ASCEND_INSTALL_PATH/bin/setenv.bash
if [ "$RUN_MODE" != npu ]; then
    export LD_LIBRARY_PATH=$_ASCEND_INSTALL_PATH/tools/simulator/$SOC_VERSION/lib:$LD_LIBRARY_PATH
fi
if [ "$RUN_MODE" = cpu ]; then
    export LD_LIBRARY_PATH=$_ASCEND_INSTALL_PATH/tools/tikicpulib/lib:$_ASCEND_INSTALL_PATH/tools/tikicpulib/lib/$SOC_VERSION:$LD_LIBRARY_PATH
fi

set -e
rm -rf build out
mkdir -p build
cmake -B build -DRUN_MODE=$RUN_MODE -DSOC_VERSION=$SOC_VERSION -DCMAKE_BUILD_TYPE=$BUILD_TYPE \
    -DCMAKE_INSTALL_PREFIX=$INSTALL_PREFIX -DASCEND_CANN_PACKAGE_PATH=$_ASCEND_INSTALL_PATH
cmake --build build -j
cmake --install build

rm -rf input output
mkdir -p input output
python3 scripts/gen_data.py
(
    export LD_LIBRARY_PATH=$(pwd)/out/lib:$(pwd)/out/lib64:$_ASCEND_INSTALL_PATH/lib64:$LD_LIBRARY_PATH
    ./out/bin/add_demo
)
md5sum output/*.bin
python3 scripts/verify_result.py output/output_z.bin output/golden.bin
