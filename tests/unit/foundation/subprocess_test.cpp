// SPDX-License-Identifier: Apache-2.0
// Programs that run to completion, and programs that are stopped early.
#include "foundation/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <thread>

#include "fifo.h"
#include "foundation/files.h"

namespace canopy {
namespace {

TEST(Subprocess, GivesStatusAndOutput) {
    auto finished = run_to_end({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->status, 7);
    EXPECT_EQ(finished->output, "out\nerr\n");
    EXPECT_EQ(run_to_end({"/nowhere/at/all"}).message(), "cannot start /nowhere/at/all: No such file or directory");
}

TEST(Subprocess, HasItsOwnPlaceForTemporaryFiles) {
    auto finished = run_to_end({"/bin/sh", "-c", "echo $TMPDIR"}, {nullptr, "/tmp/elsewhere"});
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished->output, "/tmp/elsewhere\n");
}

TEST(Subprocess, AStopKeepsProgramsFromStartingUntilItIsLifted) {
    ProcessStop stop;
    stop.stop();
    EXPECT_EQ(run_to_end({"/bin/true"}, {&stop, ""}).message(), "/bin/true is not started: the work ends");
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
    std::istringstream(line_from_fifo(place)) >> grandchild;  // waits until the grandchild runs
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

TEST(Subprocess, InputAndOutputAreFiles) {
    auto folder = TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok());
    const std::string input = folder->path() + "/input", output = folder->path() + "/output";
    ASSERT_TRUE(write_file(input, "some words\n"));
    ProcessOptions options;
    options.input = input;
    options.output = output;
    auto finished = run_to_end({"sh", "-c", "cat; echo trouble >&2"}, options);
    ASSERT_TRUE(finished.ok()) << finished.message();
    EXPECT_EQ(finished->output, "trouble\n");
    std::string written;
    ASSERT_TRUE(read_file(output, written));
    EXPECT_EQ(written, "some words\n");
    options.input = folder->path() + "/missing";
    EXPECT_EQ(run_to_end({"/bin/cat"}, options).message(), "cannot start /bin/cat: No such file or directory");
}

TEST(Subprocess, WhatTheProgramClosedOrIgnoresDoesNotReachTheOther) {
    const pid_t child = fork();
    if (child == 0) {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN);
        auto finished = run_to_end({"/bin/sh", "-c", "cat && echo out && kill -PIPE $$"});
        _exit(finished.ok() && finished->output == "out\n" && finished->status == 128 + SIGPIPE ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Kills a child process of ours while it runs a program that has itself started another one.
void kill_while_running(bool ends_with_caller, pid_t (&started)[2]) {
    auto folder = TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok());
    const std::string place = folder->path() + "/started";
    ASSERT_EQ(mkfifo(place.c_str(), S_IRUSR | S_IWUSR), 0);
    const pid_t program = fork();
    if (program == 0) {
        ProcessOptions options;
        options.ends_with_caller = ends_with_caller;
        (void)run_to_end({"/bin/sh", "-c", "sleep 1000 & echo $$ $! > \"$0\"; wait", place}, options).ok();
        _exit(0);
    }
    std::istringstream(line_from_fifo(place)) >> started[0] >> started[1];  // waits until both run
    ASSERT_EQ(kill(program, SIGKILL), 0);
    ASSERT_EQ(waitpid(program, nullptr, 0), program);
}

TEST(Subprocess, EverythingEndsWithAProgramThatIsKilled) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0) << "what loses its parent becomes ours";
    pid_t started[2] = {};
    kill_while_running(true, started);
    for (const pid_t process : started) {
        ASSERT_GT(process, 0);
        int how = 0;
        EXPECT_EQ(waitpid(process, &how, 0), process);
        EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left to wait for";
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Subprocess, AProgramMayOutliveTheOneThatStartedIt) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t started[2] = {};
    kill_while_running(false, started);
    for (const pid_t process : started) {
        ASSERT_GT(process, 0);
        EXPECT_EQ(kill(process, SIGTERM), 0) << "it runs until somebody ends it";
        int how = 0;
        EXPECT_EQ(waitpid(process, &how, 0), process);
        EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace canopy
