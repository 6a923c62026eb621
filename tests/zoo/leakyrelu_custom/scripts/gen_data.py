# SPDX-License-Identifier: Apache-2.0
import numpy as np
x = np.random.uniform(-4, 4, (24, 1024)).astype("float32")
x.tofile("data/x.bin")
np.where(x > 0, x, x * np.float32(0.25)).tofile("data/golden.bin")
