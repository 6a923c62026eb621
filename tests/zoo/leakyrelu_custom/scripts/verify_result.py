# SPDX-License-Identifier: Apache-2.0
import sys
import numpy as np
a, b = (np.fromfile(f, "float32") for f in ("data/y.bin", "data/golden.bin"))
wrong = int((a != b).sum()) if a.shape == b.shape else -1
print(f"{sys.argv[1]} mode: {wrong} wrong of {b.size}")
sys.exit(wrong != 0)
