#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import os
import numpy as np

n = 512 * 23
os.makedirs("input", exist_ok=True)
os.makedirs("output", exist_ok=True)
x = np.random.randn(n).astype(np.float32)
y = np.random.randn(n).astype(np.float32)
golden = x * np.float32(0.5) + y
x.tofile("input/input_x.bin")
y.tofile("input/input_y.bin")
golden.tofile("output/golden.bin")
