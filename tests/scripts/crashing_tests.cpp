// SPDX-License-Identifier: Apache-2.0
// Tests that end in different ways, for the test of run_share.py.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

TEST(Good, One) {}
TEST(Good, Two) {}
TEST(Good, PrintsTheSummaryOfAChild) { std::puts("[==========] 1 test from 1 test suite ran. (0 ms total)"); }
TEST(Bad, Aborts) { std::abort(); }
TEST(Bad, Fails) { FAIL(); }
TEST(Good, Three) {}
TEST(Bad, LeavesTheProgram) { std::_Exit(0); }
TEST(Bad, DISABLED_IsNeverRun) { std::abort(); }
TEST(Good, Four) {}
TEST(Bad, IsKilled) { raise(SIGKILL); }

class Numbered : public testing::TestWithParam<int> {};
TEST_P(Numbered, AbortsForThree) {
    if (GetParam() == 3) std::abort();
}
INSTANTIATE_TEST_SUITE_P(Five, Numbered, testing::Range(0, 5));

}  // namespace
