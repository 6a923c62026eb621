#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np

real = np.fromfile(sys.argv[1], dtype=np.float32)
golden = np.fromfile(sys.argv[2], dtype=np.float32)
diff = np.abs(real - golden)
limit = 1e-4 + 1e-3 * np.abs(golden)
count = np.sum(diff > limit)
print("error count %d of %d" % (count, golden.size))
# no exit code here, look at the text
print("test pass" if real.size == golden.size and count == 0 else "test failed")
