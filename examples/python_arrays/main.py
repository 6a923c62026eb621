# SPDX-License-Identifier: Apache-2.0
"""A kernel on numpy arrays: compiled, loaded and launched from Python, then eight launches fused into one."""
from pathlib import Path

import canopy
import numpy as np

x = np.linspace(-1, 1, 1 << 20, dtype=np.float32)
a, b = canopy.array(x), canopy.empty_like(x)
affine = canopy.load(Path(__file__).with_name("affine.asc"))["affine"]
affine(32)(a, b, x.size, 2.0, 1.0)
wrong = np.count_nonzero(b.numpy() != x * np.float32(2) + np.float32(1))

stream = canopy.Stream()
with stream.capture() as graph:
    for step in range(8):
        affine(32)(a if step == 0 else b, b, x.size, 0.5, 1.0)
graph.fuse().launch()
expected = x
for step in range(8):
    expected = expected * np.float32(0.5) + np.float32(1)
wrong += np.count_nonzero(b.numpy(stream) != expected)
print(f"python_arrays: {x.size} elements, one launch and eight fused ones, {wrong} wrong")
