# SPDX-License-Identifier: Apache-2.0
import os
import sys
import unittest

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "out")
sys.path.insert(0, os.path.join(ROOT, "python"))
import npu_registry as npu  # noqa: E402


def call(name, *inputs):
    out = np.empty_like(inputs[0])
    npu.call(name, out, *inputs)
    return out


class TestRegistry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        npu.init(os.path.join(ROOT, "fatbin"), 0)

    @classmethod
    def tearDownClass(cls):
        npu.finalize()

    def test_1_lazy(self):
        self.assertIn("silu", npu.list_ops())
        self.assertEqual(npu.loaded(), [])
        call("relu", np.zeros(8, np.float32))
        self.assertEqual(npu.loaded(), ["unary_ops"])
        call("add", np.zeros(8, np.float32), np.zeros(8, np.float32))
        self.assertEqual(npu.loaded(), ["binary_ops", "unary_ops"])

    def test_2_values(self):
        rng = np.random.RandomState(0)
        for n in (1, 8, 1000, 10007):
            a, b = rng.randn(2, n).astype(np.float32)
            np.testing.assert_array_equal(call("relu", a), np.maximum(a, 0))
            np.testing.assert_allclose(call("silu", a), a / (1 + np.exp(-a)), rtol=1e-5, atol=1e-7)
            np.testing.assert_array_equal(call("add", a, b), a + b)
            np.testing.assert_array_equal(call("maximum", a, b), np.maximum(a, b))

    def test_3_errors(self):
        x = np.zeros(8, np.float32)
        with self.assertRaises(KeyError):
            call("cosh", x)
        with self.assertRaisesRegex(RuntimeError, "cannot load .*not_built_ops.o"):
            call("minimum", x, x)
        with self.assertRaises(ValueError):
            call("add", x, np.zeros(9, np.float32))


if __name__ == "__main__":
    unittest.main()
