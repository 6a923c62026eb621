#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -e
cd "$(dirname "$0")"
rm -rf build *.egg-info npu_ops/*.so
python3 setup.py build_ext --inplace
PYTHONPATH=$(pwd):$PYTHONPATH python3 test/test_ops.py
