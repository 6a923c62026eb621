# SPDX-License-Identifier: Apache-2.0
import unittest

import numpy as np
import npu_ops


class TestNpuOps(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(2024)

    def test_add(self):
        for shape in [(16, 1024), (1000,), (3, 7, 11)]:
            with self.subTest(shape=shape):
                x = self.rng.random(shape, dtype=np.float32)
                y = self.rng.random(shape, dtype=np.float32)
                np.testing.assert_allclose(npu_ops.add(x, y, alpha=2.0), x + 2 * y, rtol=1e-6)

    def test_rms_norm(self):
        x = self.rng.standard_normal((37, 256), dtype=np.float32)
        gamma = self.rng.standard_normal(256, dtype=np.float32)
        golden = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * gamma
        np.testing.assert_allclose(npu_ops.rms_norm(x, gamma), golden, rtol=1e-4, atol=1e-5)

    def test_bad_shape(self):
        with self.assertRaisesRegex(ValueError, "rms_norm"):
            npu_ops.rms_norm(np.zeros((2, 8), np.float32), np.zeros(4, np.float32))


if __name__ == "__main__":
    unittest.main(verbosity=2)
