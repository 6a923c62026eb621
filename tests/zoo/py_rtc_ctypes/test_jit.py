# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import unittest

import numpy as np

from jit import Jit, check, rt, rtc


class TestJit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        check(rt.aclInit(None), "aclInit")
        check(rt.aclrtSetDevice(0), "aclrtSetDevice")
        stream = C.c_void_p()
        check(rt.aclrtCreateStream(C.byref(stream)), "aclrtCreateStream")
        cls.stream, cls.jit = stream, Jit(stream)

    @classmethod
    def tearDownClass(cls):
        check(rt.aclrtDestroyStream(cls.stream), "aclrtDestroyStream")
        check(rt.aclrtResetDevice(0), "aclrtResetDevice")
        check(rt.aclFinalize(), "aclFinalize")

    def test_fused_expression(self):
        rng = np.random.default_rng(0)
        x, y = rng.random((2, 5001), dtype=np.float32)
        formula = lambda a, b: (a * b + 0.5).exp() * 2.0 + a.sqrt()  # noqa: E731
        got = self.jit(formula, x, y)
        np.testing.assert_allclose(got, np.exp(x * y + 0.5) * 2 + np.sqrt(x), rtol=1e-5)
        before = len(Jit.cache)
        self.jit(formula, y, x)
        self.assertEqual(len(Jit.cache), before, "the second call is not compiled again")

    def test_compile_error_has_a_log(self):
        prog = C.c_void_p()
        source = b'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void bad() { undefined_thing(); }\n'
        check(rtc.aclrtcCreateProg(C.byref(prog), source, b"bad.asc", 0, None, None), "CreateProg")
        with self.assertRaisesRegex(RuntimeError, "undefined_thing"):
            check(rtc.aclrtcCompileProg(prog, 0, None), "CompileProg", prog)
        check(rtc.aclrtcDestroyProg(C.byref(prog)), "DestroyProg")


if __name__ == "__main__":
    unittest.main()
