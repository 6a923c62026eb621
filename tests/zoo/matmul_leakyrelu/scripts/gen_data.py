#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# coding=utf-8
import os
import numpy as np


def gen_golden_data():
    M, N, K = 64, 128, 96
    x1 = np.random.uniform(-1, 1, [M, K]).astype(np.float16)
    x2 = np.random.uniform(-1, 1, [K, N]).astype(np.float16)
    bias = np.random.uniform(-2, 2, [N]).astype(np.float32)
    golden = np.matmul(x1.astype(np.float32), x2.astype(np.float32)) + bias
    golden = np.where(golden >= 0, golden, golden * 0.001).astype(np.float32)
    os.system("mkdir -p input output")
    x1.tofile("./input/x1_gm.bin")
    x2.tofile("./input/x2_gm.bin")
    bias.tofile("./input/bias.bin")
    golden.tofile("./output/golden.bin")


if __name__ == "__main__":
    gen_golden_data()
