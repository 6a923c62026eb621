#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Notebook style: kernels from a file, arrays that live on the device, one graph for the step.
import ctypes
import sys

import canopy
import numpy as np


class Scale(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_float), ("causal", ctypes.c_uint32)]


kernels = canopy.load("attention_scores.asc")
mask, softmax = kernels["scale_and_mask"], kernels["row_softmax"]

rows = cols = 64
rng = np.random.default_rng(7)


def golden(x, factor):
    x = x * np.float32(factor)
    x[np.triu_indices(rows, 1)] = -1e9
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# 1. eager
x = rng.standard_normal((rows, cols), dtype=np.float32)
scores = canopy.array(x)
mask(8)(scores, rows, cols, Scale(0.125, 1))
softmax(8)(scores, rows, cols)
np.testing.assert_allclose(scores.numpy(), golden(x, 0.125), rtol=1e-4, atol=1e-6)
print("eager: ok")

# 2. captured once, replayed with other inputs
with canopy.Stream() as stream:
    pass
with stream.capture() as graph:
    mask(8)(scores, rows, cols, Scale(0.25, 1))
    softmax(8)(scores, rows, cols)
for step in range(5):
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    scores.set(x)
    graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(scores.numpy(), golden(x, 0.25), rtol=1e-4, atol=1e-6)
print("graph: ok")

# 3. errors are exceptions
try:
    mask(8)(scores, rows, cols)
except (canopy.Error, TypeError) as error:
    print("error:", error)
else:
    sys.exit("a launch without its last argument must not work")
print("attention on", rows, "x", cols, "passed")
