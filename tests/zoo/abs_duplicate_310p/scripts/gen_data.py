#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import numpy as np
x = np.random.uniform(-100, 100, 1504).astype(np.float16)
y = np.abs(x)
y[1500:] = -5
x.tofile("./input/x.bin")
y.tofile("./output/golden.bin")
