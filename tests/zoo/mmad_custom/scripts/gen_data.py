# SPDX-License-Identifier: Apache-2.0
import numpy as np
a = np.random.uniform(-2, 2, (32, 48)).astype(np.float16)
b = np.random.uniform(-2, 2, (48, 64)).astype(np.float16)
a.tofile("a.bin")
b.tofile("b.bin")
np.save("golden.npy", a.astype(np.float32) @ b.astype(np.float32))
