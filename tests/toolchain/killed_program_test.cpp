// SPDX-License-Identifier: Apache-2.0
// A program is killed while it compiles at run time: no compiler outlives it.
#include <acl/acl_rt_compile.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "fifo.h"
#include "foundation/files.h"

namespace canopy {
namespace {

// Compiles with a clang that writes its process id and that of its parent canopy-cc, and never ends.
[[noreturn]] void compile_for_ever(const std::string& clang) {
    setenv("CANOPY_CC", CANOPY_TEST_CC, 1);
    setenv("CANOPY_CLANG", clang.c_str(), 1);
    setenv("TMPDIR", clang.substr(0, clang.rfind('/')).c_str(), 1);
    aclrtcProg program = nullptr;
    aclrtcCreateProg(&program, "int answer = 42;", "answer.cpp", 0, nullptr, nullptr);
    aclrtcCompileProg(program, 0, nullptr);
    _exit(0);
}

TEST(KilledProgram, LeavesNoCompilerBehind) {
    auto folder = TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok()) << folder.message();
    const std::string clang = folder->path() + "/clang++", started = folder->path() + "/started";
    ASSERT_EQ(mkfifo(started.c_str(), S_IRUSR | S_IWUSR), 0);
    ASSERT_TRUE(write_file(clang, "#!/bin/sh\necho $$ $PPID > " + started + "\nexec sleep 1000\n"));
    ASSERT_EQ(chmod(clang.c_str(), S_IRWXU), 0);
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0) << "what loses its parent becomes ours";
    const pid_t program = fork();
    if (program == 0) compile_for_ever(clang);
    pid_t compilers[2] = {};
    std::istringstream(line_from_fifo(started)) >> compilers[0] >> compilers[1];  // waits until clang runs
    ASSERT_EQ(kill(program, SIGKILL), 0);
    ASSERT_EQ(waitpid(program, nullptr, 0), program);
    for (const pid_t compiler : {compilers[1], compilers[0]}) {  // clang is reparented to us when canopy-cc is gone
        ASSERT_GT(compiler, 0);
        int how = 0;
        EXPECT_EQ(waitpid(compiler, &how, 0), compiler);
        EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) << how;
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left to wait for";
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace canopy
