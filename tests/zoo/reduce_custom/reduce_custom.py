# SPDX-License-Identifier: Apache-2.0
# python3 reduce_custom.py gen | check
import os
import sys
import numpy as np

if sys.argv[1] == "gen":
    os.makedirs("data", exist_ok=True)
    np.random.randint(-500, 500, (20, 1024)).astype(np.float32).tofile("data/x.bin")
else:
    x = np.fromfile("data/x.bin", np.float32).reshape(20, 1024)[:, :1000]
    y = np.fromfile("data/y.bin", np.float32).reshape(20, 8)
    golden = np.stack([x.sum(1), x.max(1), x.argmax(1), x.min(1)], 1)
    bad = np.argwhere(y[:, :4] != golden)
    print("wrong at", bad.tolist() if len(bad) else "no place")
    print("reduce_custom", "FAIL" if len(bad) else "PASS")
    sys.exit(len(bad) > 0)
