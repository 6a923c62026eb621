# SPDX-License-Identifier: Apache-2.0
# coding=utf-8
import sys
import numpy as np

LOSS = 1e-3


def verify_result(real_file, golden_file):
    real = np.fromfile(real_file, dtype=np.float16)
    golden = np.fromfile(golden_file, dtype=np.float16)
    if real.size != golden.size:
        print("size is %d, should be %d" % (real.size, golden.size))
        return False
    bad = np.where(~np.isclose(real, golden, rtol=LOSS, atol=LOSS))[0]
    for i in bad[:20]:
        print("[%d] real %f golden %f" % (i, real[i], golden[i]))
    return bad.size <= golden.size * LOSS


if __name__ == "__main__":
    if not verify_result(sys.argv[1], sys.argv[2]):
        print("test failed")
        sys.exit(1)
    print("test pass")
