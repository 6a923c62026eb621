# SPDX-License-Identifier: Apache-2.0
set -e
cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$PWD/out > /dev/null
cmake --build build > /dev/null
cmake --install build > /dev/null
