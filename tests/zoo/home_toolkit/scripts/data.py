# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np

if sys.argv[1] == "gen":
    np.random.uniform(-4, 4, 4 * 640).astype(np.float16).tofile("output/x.bin")
else:
    x = np.fromfile("output/x.bin", np.float16).astype(np.float64)
    y = np.fromfile("output/y.bin", np.float16).astype(np.float64)
    if not np.allclose(y, np.log1p(np.exp(x)), rtol=2e-3, atol=2e-3):
        sys.exit("[ERROR] wrong values")
    print("[SUCCESS] exp_log")
