// SPDX-License-Identifier: Apache-2.0
// Tests of what a process decides once (its configuration, its environment) run in a process of their own: the test
// program starts itself again for the body and reports whether an expectation failed in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "fixture.h"

namespace conformance {

// A directory that is removed with everything in it.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        char pattern[] = "/tmp/canopy-test-XXXXXX";
        if (const char* made = mkdtemp(pattern)) path_ = made;
    }
    ~TemporaryDirectory() {
        const std::string command = "rm -rf '" + path_ + "'";
        if (!path_.empty() && std::system(command.c_str()) != 0) std::perror("rm");
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    std::string write(const std::string& name, const std::string& text) const {
        const std::string file = path_ + "/" + name;
        std::ofstream(file) << text;
        return file;
    }

private:
    std::string path_;
};

// What a body's process ends with: its failures on the standard error, where the test that started it looks.
[[noreturn]] inline void end_own_process() {
    const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int part = 0; part < result.total_part_count(); ++part) {
        const testing::TestPartResult& entry = result.GetTestPartResult(part);
        if (entry.failed()) std::fprintf(stderr, "line %d: %s\n", entry.line_number(), entry.message());
    }
    std::exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace conformance

// Runs `body` (a callable) in a new process and expects that nothing failed in it.
#define EXPECT_IN_OWN_PROCESS(body)                     \
    do {                                                \
        GTEST_FLAG_SET(death_test_style, "threadsafe"); \
        EXPECT_EXIT(                                    \
            {                                           \
                body();                                 \
                ::conformance::end_own_process();       \
            },                                          \
            testing::ExitedWithCode(0), "");            \
    } while (false)
