# SPDX-License-Identifier: Apache-2.0
import numpy as np
golden = np.load("golden.npy")
c = np.fromfile("c.bin", dtype=np.float32).reshape(golden.shape)
np.testing.assert_allclose(c, golden, rtol=1e-4, atol=1e-4)
print("mmad: precision is ok, mean |c| = %.3f" % np.abs(c).mean())
