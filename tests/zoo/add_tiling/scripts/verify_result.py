#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np

out = np.fromfile(sys.argv[1], np.float32)
ref = np.fromfile(sys.argv[2], np.float32)
try:
    np.testing.assert_allclose(out, ref, rtol=1e-6)
except AssertionError as e:
    print(e)
    print("[ERROR] verify failed")
    sys.exit(-1)
print("[SUCCESS] max diff", np.abs(out - ref).max())
