#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the build into a fresh folder and builds and runs every example with that tree and nothing else.
#   examples_test.sh <build folder> <source folder> <folder to work in>
set -euo pipefail
build="$1" source="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"
unset ASCEND_HOME_PATH LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH SOC_VERSION CANOPY_CHIP
cmake --install "$build" --prefix "$work/tree" > "$work/install.log"
# As users have them: outside the project.
cp -r "$source/examples" "$work/examples"
"$work/examples/run.sh" --tree "$work/tree" --build "$work/build" --jobs 2
