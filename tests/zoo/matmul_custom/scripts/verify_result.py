#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np

c = np.fromfile("output/c.bin", np.float32)
golden = np.fromfile("output/golden.bin", np.float32)
if not np.allclose(c, golden, 1e-3, 1e-3):
    print("[ERROR] result error")
    sys.exit(1)
print("test pass")
