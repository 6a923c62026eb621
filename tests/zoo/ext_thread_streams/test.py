# SPDX-License-Identifier: Apache-2.0
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, "build")
import _streams as npu


class ThreadStreamTest(unittest.TestCase):
    THREADS = 6
    STEPS = 40

    def worker(self, index, barrier):
        barrier.wait()
        x = np.arange(5000, dtype=np.float32) % 17 + index
        a = npu.DeviceArray(x)
        want = x.copy()
        for step in range(self.STEPS):
            scale, bias = (2.0, 1.0) if step % 2 == 0 else (0.5, -0.25)
            a.scale_bias(scale, bias)
            want = want * np.float32(scale) + np.float32(bias)
        np.testing.assert_allclose(a.numpy(), want, rtol=1e-5)
        first = npu.stream_ptr()
        self.assertEqual(first, npu.stream_ptr())
        barrier.wait()
        return first

    def test_stream_per_thread(self):
        barrier = threading.Barrier(self.THREADS)
        with ThreadPoolExecutor(self.THREADS) as pool:
            streams = list(pool.map(lambda i: self.worker(i, barrier), range(self.THREADS)))
            self.assertEqual(len(set(streams)), self.THREADS)
            self.assertGreaterEqual(npu.stream_count(), self.THREADS)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    npu.shutdown()
    sys.exit(not result.wasSuccessful())
