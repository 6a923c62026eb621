// SPDX-License-Identifier: Apache-2.0
// Programs that are run to their end, and programs that are ended before it.
#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "base/error_text.h"

namespace canopy {
namespace {

TEST(Subprocess, GivesStatusAndOutput) {
    auto finished = run_to_end({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->status, 7);
    EXPECT_EQ(finished->output, "out\nerr\n");
    EXPECT_FALSE(run_to_end({"/nowhere/at/all"}).ok());
    take_error_text();
}

TEST(Subprocess, HasItsOwnPlaceForTemporaryFiles) {
    auto finished = run_to_end({"/bin/sh", "-c", "echo $TMPDIR"}, {nullptr, "/tmp/elsewhere"});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->output, "/tmp/elsewhere\n");
}

TEST(Subprocess, AStopKeepsProgramsFromStartingUntilItIsLifted) {
    ProcessStop stop;
    stop.stop();
    EXPECT_FALSE(run_to_end({"/bin/true"}, {&stop, ""}).ok());
    EXPECT_NE(std::string(take_error_text()).find("not started"), std::string::npos);
    stop.lift();
    auto finished = run_to_end({"/bin/true"}, {&stop, ""});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->status, 0);
}

TEST(Subprocess, AStopEndsAProgramAndWhatItStarted) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0) << "what loses its parent becomes ours";
    auto folder = TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok());
    const std::string place = folder->path() + "/started";
    ASSERT_EQ(mkfifo(place.c_str(), S_IRUSR | S_IWUSR), 0);
    ProcessStop stop;
    int status = 0;
    std::thread runner([&] {
        auto finished = run_to_end({"/bin/sh", "-c", "sleep 1000 & echo $! > \"$0\"; wait", place}, {&stop, ""});
        status = finished.ok() ? finished->status : -1;
    });
    pid_t grandchild = 0;
    std::ifstream(place) >> grandchild;  // comes when it is there
    stop.stop();
    runner.join();
    EXPECT_EQ(status, 128 + SIGKILL);
    ASSERT_GT(grandchild, 0);
    int how = 0;
    EXPECT_EQ(waitpid(grandchild, &how, 0), grandchild);
    EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left to wait for";
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace canopy
