#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import filecmp
import sys
if filecmp.cmp(sys.argv[1], sys.argv[2], shallow=False):
    print("test pass")
else:
    print("[ERROR] files differ")
    sys.exit(1)
