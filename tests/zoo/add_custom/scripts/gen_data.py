#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# coding=utf-8
import numpy as np

x = np.random.uniform(1, 100, [8, 2048]).astype(np.float16)
y = np.random.uniform(1, 100, [8, 2048]).astype(np.float16)
x.tofile("./input/input_x.bin")
y.tofile("./input/input_y.bin")
(x + y).tofile("./output/golden.bin")
