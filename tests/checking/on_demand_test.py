#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a program that was compiled as usual: its checking code is made by the first run from a text in the cache.

    on_demand_test.py <canopy-cc>
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = str(pathlib.Path(sys.argv.pop()).resolve())
SECONDS = 120
HAZARD = "Potential RAW hazard detected at UB in kernel doubles on device 0"
COMPILING = "canopy check: compiling the checking code of kernel doubles ..."
SOURCE = r"""
#include <acl/acl.h>
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __vector__ void doubles(GM_ADDR memory) {
    GlobalTensor<float> data;
    data.SetGlobalBuffer((__gm__ float*)memory, 256);
    LocalTensor<float> tile(TPosition::VECIN, 0, 256);
    DataCopy(tile, data, 256);
    Add(tile, tile, tile, 256);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(data, tile, 256);
    PipeBarrier<PIPE_ALL>();
}

int main() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void* memory;
    aclrtMalloc(&memory, 1024, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(memory, 1024, 0, 1024);
    doubles<<<1, nullptr, stream>>>((GM_ADDR)memory);
    const int code = aclrtSynchronizeStream(stream);
    aclrtFree(memory);
    aclrtDestroyStream(stream);
    aclFinalize();
    return code;
}
"""


class OnDemand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        cls.cache = cls.folder / "cache"
        (cls.folder / "doubles.asc").write_text(SOURCE)
        cls.run_any(COMPILER, "--no-trace", "--targets=native", "doubles.asc", "-o", "doubles").check_returncode()

    @classmethod
    def run_any(cls, *command, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CANOPY_")}
        return subprocess.run(command, cwd=cls.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=SECONDS,
                              env={**environment, "CANOPY_CACHE_DIR": str(cls.cache), **variables})

    def check(self, **variables):
        return self.run_any("./doubles", CANOPY_CHECK="race", **variables)

    def assert_unchecked(self, done, why):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("canopy check: not checked inside: doubles: " + why, done.stderr)
        self.assertNotIn(HAZARD, done.stderr)

    def test_1_the_first_run_compiles(self):
        first = self.check(CANOPY_CC=COMPILER)
        self.assertEqual(first.returncode, 66, first.stderr)
        self.assertIn(COMPILING, first.stderr)
        self.assertIn(HAZARD, first.stderr)
        self.assertIn("doubles.asc:10", first.stderr)
        self.assertIn("doubles.asc:11", first.stderr)
        second = self.check(CANOPY_CC="/bin/false")
        self.assertEqual(second.returncode, 66, second.stderr)
        self.assertNotIn(COMPILING, second.stderr)
        self.assertIn(HAZARD, second.stderr)

    def test_2_an_unchecked_run_compiles_nothing(self):
        done = self.run_any("./doubles", CANOPY_CC="/bin/false")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_3_a_device_in_another_process_is_not_checked_inside(self):
        self.assert_unchecked(self.check(CANOPY_DEVICE="apart"), "its device is in a separate process")

    def test_4_a_compiler_that_fails_is_named(self):
        for file in (self.cache / "checks").iterdir():
            file.unlink()
        self.assert_unchecked(self.check(CANOPY_CC="/bin/false"), "its checking code does not compile")
        self.assert_unchecked(self.check(CANOPY_CC="/nowhere"), "there is no kernel compiler to make its checking code")

    def test_5_without_the_text_the_way_out_is_named(self):
        for file in (self.cache / "texts").iterdir():
            file.unlink()
        done = self.check(CANOPY_CC=COMPILER)
        self.assert_unchecked(done, "the text of its image is not in the cache of compiled code; compile it again, or "
                                    "with canopy-cc --check")


if __name__ == "__main__":
    unittest.main()
