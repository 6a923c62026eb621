#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles this example with the install tree that set_env.sh has chosen, and runs it.
#   source build/install/set_env.sh && examples/vector_add/run.sh [folder for what is built]
set -euo pipefail
source_folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${ASCEND_HOME_PATH:?source set_env.sh of an install tree first}"
output="${1:-$PWD/vector_add_build}"
mkdir -p "$output"

show() {
    echo "\$ $*"
    "$@"
}

cd "$output"
show g++ -std=c++17 -O2 -Wall -Wextra "-I$ASCEND_HOME_PATH/include" -o vector_add "$source_folder/main.cpp" \
    "-L$ASCEND_HOME_PATH/lib64" -lascendcl
show canopy-cc --image -O2 -g -o add.o "$source_folder/add.cpp"
show ./vector_add add.o
