#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the benchmarks with their rivals, runs them and prints one table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    cat <<'TEXT'
usage: ./bench.sh [OPTION]...

Installs what the benchmarks need (PoCL and oneTBB among it), builds Canopy with them into build/bench, runs
canopy_bench and prints one table: what was measured, ours, the goal, the rivals, the ratio, the verdict.
The machine should be quiet. All options go to canopy_bench:

  --filter WORD[,WORD]  only topics whose name contains a word, like --filter launch
  --quick               a quarter of the rounds
  --json FILE           also write the rows, and the numbers behind them, to FILE
  --list                name the topics

  --python              instead, what a launch costs from Python
TEXT
    exit 0
fi

. scripts/steps.sh
scripts/setup.sh build bench
step "configure" build/bench/configure.log cmake --preset bench
if [[ ${1:-} == --python ]]; then
    step "build" build/bench/build.log cmake --build --preset bench --target canopy_python canopy-cc
    PYTHONPATH=build/bench/python/site-packages exec /usr/bin/python3 bench/runtime/python_launch.py \
        --compiler build/bench/toolchain/tree/bin/canopy-cc
fi
step "build" build/bench/build.log cmake --build --preset bench --target canopy_bench
echo "==> measure (about three minutes)"
exec build/bench/bench/canopy_bench "$@"
