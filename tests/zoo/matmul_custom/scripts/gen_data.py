#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np

m, n, k = map(int, sys.argv[1:4])
a = np.random.randint(-4, 5, (m, k)).astype(np.float16)
b = np.random.randint(-4, 5, (k, n)).astype(np.float16)
bias = np.random.randint(-9, 10, n).astype(np.float32)
a.tofile("input/a.bin")
b.tofile("input/b.bin")
bias.tofile("input/bias.bin")
(a.astype(np.float32) @ b.astype(np.float32) + bias).tofile("output/golden.bin")
