#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_share.py: a crash loses one test, whatever the share.

    run_share_test.py PROGRAM    the program of crashing_tests.cpp
"""
import pathlib
import re
import subprocess
import sys
import unittest

RUN_SHARE = pathlib.Path(__file__).resolve().parents[1] / "run_share.py"
PROGRAM = sys.argv.pop()
GOOD = {"Good.One", "Good.Two", "Good.Three", "Good.Four", "Good.PrintsTheSummaryOfAChild",
        *(f"Five/Numbered.AbortsForThree/{i}" for i in (0, 1, 2, 4))}
CRASHED = {"Bad.Aborts (signal 6)", "Bad.LeavesTheProgram (status 0)", "Bad.IsKilled (signal 9)",
           "Five/Numbered.AbortsForThree/3 (signal 6)"}


def run(share, shares, *arguments):
    return subprocess.run([sys.executable, RUN_SHARE, str(share), str(shares), PROGRAM, *arguments], text=True,
                          stdout=subprocess.PIPE, timeout=60)


def passed(output):
    return re.findall(r"\[       OK \] (\S+)", output)


class RunShare(unittest.TestCase):
    def test_tests_that_pass_pass(self):
        done = run(1, 1, "--gtest_filter=Good.*")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(len(passed(done.stdout)), 5)

    def test_a_test_that_fails_fails(self):
        done = run(1, 1, "--gtest_filter=Good.*:Bad.Fails")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("CRASHED", done.stdout)

    def test_a_crash_loses_one_test(self):
        for shares in (1, 2, 3):
            good, crashed, failed = [], [], []
            for share in range(1, shares + 1):
                done = run(share, shares)
                good += passed(done.stdout)
                crashed += re.findall(r"\[  CRASHED \] (.*)", done.stdout)
                failed += set(re.findall(r"\[  FAILED  \] (Bad\.\w+)", done.stdout))
                self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(sorted(good), sorted(GOOD))
            self.assertEqual(sorted(crashed), sorted(CRASHED))
            self.assertEqual(failed, ["Bad.Fails"])

    def test_a_program_without_tests_of_this_share_passes(self):
        done = run(2, 2, "--gtest_filter=Good.One")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_program_that_is_not_a_test_fails(self):
        done = subprocess.run([sys.executable, RUN_SHARE, "1", "1", "/bin/true"], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)

    def test_wrong_arguments_are_refused(self):
        done = subprocess.run([sys.executable, RUN_SHARE, "one", "1", PROGRAM], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
