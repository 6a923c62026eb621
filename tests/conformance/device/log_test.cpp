// SPDX-License-Identifier: Apache-2.0
// The program log.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/acl_log.h"
#include "base/alog_pub.h"
#include "fixtures/fixture.h"
#include "fixtures/own_process.h"
#include "toolchain/dlog_pub.h"

namespace conformance {
namespace {

// The contents of all files in a directory, concatenated.
std::string contents_of(const std::string& directory) {
    std::string text;
    if (DIR* entries = opendir(directory.c_str())) {
        while (const dirent* entry = readdir(entries)) {
            std::ifstream file(directory + "/" + entry->d_name);
            std::stringstream buffer;
            buffer << file.rdbuf();
            text += buffer.str();
        }
        closedir(entries);
    }
    return text;
}

void only_errors_are_logged_by_default() {
    TemporaryDirectory directory;
    setenv("ASCEND_PROCESS_LOG_PATH", directory.path().c_str(), 1);
    unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    aclAppLog(ACL_WARNING, "work", "/src/main.cpp", 3, "quiet");
    struct stat facts {};
    EXPECT_NE(stat((directory.path() + "/debug").c_str(), &facts), 0);
    aclAppLog(ACL_ERROR, "work", "/src/main.cpp", 12, "lost %d of %s", 3, "five");
    aclAppLog(ACL_ERROR, nullptr, nullptr, 0, "%s", std::string(5000, 'x').c_str());
    aclAppLog(ACL_ERROR, "work", "main.cpp", 0, nullptr);
    const std::string text = contents_of(directory.path() + "/debug/plog");
    EXPECT_EQ(text.rfind("[ERROR]", 0), 0u) << text;
    EXPECT_NE(text.find("[main.cpp:12]"), std::string::npos) << text;
    EXPECT_NE(text.find("work: lost 3 of five\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("quiet"), std::string::npos);
    EXPECT_EQ(text.find(std::string(1024, 'x')), std::string::npos);
    EXPECT_NE(text.find(std::string(1023, 'x')), std::string::npos);
}

TEST(LogDeathTest, OnlyErrorsAreLoggedByDefault) { EXPECT_IN_OWN_PROCESS(only_errors_are_logged_by_default); }

void the_log_goes_to_standard_output_when_asked() {
    TemporaryDirectory directory;
    setenv("ASCEND_PROCESS_LOG_PATH", directory.path().c_str(), 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
    setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
    const std::string output = directory.path() + "/output";
    const int file = open(output.c_str(), O_WRONLY | O_CREAT, 0600);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    aclAppLog(ACL_DEBUG, "work", "main.cpp", 1, "hidden");
    aclAppLog(ACL_INFO, "work", "main.cpp", 2, "shown");
    dup2(before, STDOUT_FILENO);
    close(before);
    close(file);
    std::ifstream written(output);
    std::stringstream text;
    text << written.rdbuf();
    EXPECT_NE(text.str().find("[INFO]"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("shown"), std::string::npos);
    EXPECT_EQ(text.str().find("hidden"), std::string::npos);
    struct stat facts {};
    EXPECT_NE(stat((directory.path() + "/debug").c_str(), &facts), 0);
}

TEST(LogDeathTest, TheLogGoesToStandardOutputWhenAsked) {
    EXPECT_IN_OWN_PROCESS(the_log_goes_to_standard_output_when_asked);
}

void set_log(const TemporaryDirectory& directory, const char* level, const char* modules) {
    setenv("ASCEND_PROCESS_LOG_PATH", directory.path().c_str(), 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", level, 1);
    setenv("ASCEND_MODULE_LOG_LEVEL", modules, 1);
    unsetenv("ASCEND_LOG_PRINT_TO_STDOUT");
    unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    unsetenv("ASCEND_GLOBAL_EVENT_ENABLE");
}

void programs_write_lines_of_modules() {
    TemporaryDirectory directory;
    set_log(directory, "2", "HCCL=0:GE=4");
    acllogRecord(HCCL, DLOG_DEBUG, "[file.cc:%d]shown %s", 33, "one");
    acllogRecord(GE, DLOG_ERROR, "hidden");
    acllogRecord(OP, DLOG_INFO, "hidden");
    DlogRecord(OP, DLOG_WARN, "shown two\n");
    EXPECT_EQ(AlogRecord(0xff07, DLOG_TYPE_DEBUG, DLOG_ERROR, "shown %s", "three"), 0);
    EXPECT_EQ(AlogRecord(HCCL, DLOG_TYPE_RUN, DLOG_INFO, "an event"), 0);
    EXPECT_EQ(AlogRecord(2, DLOG_TYPE_DEBUG, DLOG_ERROR, "no module"), -1);
    EXPECT_EQ(AlogRecord(HCCL, 2, DLOG_ERROR, "no type"), -1);
    EXPECT_EQ(AlogRecord(HCCL, DLOG_TYPE_DEBUG, 4, "no level"), -1);
    EXPECT_EQ(AlogRecord(HCCL, DLOG_TYPE_DEBUG, DLOG_ERROR, nullptr), -1);
    EXPECT_EQ(AlogCheckDebugLevel(HCCL, DLOG_DEBUG), 1);
    EXPECT_EQ(acllogCheckDebugLevel(OP, DLOG_INFO), 0);
    EXPECT_EQ(CheckLogLevel(OP, DLOG_WARN), 1);
    EXPECT_EQ(CheckLogLevel(GE, DLOG_ERROR), 0);
    EXPECT_EQ(CheckLogLevel(-1, DLOG_ERROR), 0);
    DlogFlush();
    const std::string text = contents_of(directory.path() + "/debug/plog");
    EXPECT_EQ(text.rfind("[DEBUG] HCCL(" + std::to_string(getpid()) + ",", 0), 0u) << text;
    EXPECT_NE(text.find(" [file.cc:33]shown one\n"), std::string::npos) << text;
    EXPECT_NE(text.find("[WARNING] OP("), std::string::npos) << text;
    EXPECT_NE(text.find("shown two\n[ERROR] 65287("), std::string::npos) << text;
    EXPECT_NE(text.find("shown three\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
    EXPECT_NE(contents_of(directory.path() + "/run/plog").find("an event\n"), std::string::npos);
}

TEST(LogDeathTest, ProgramsWriteLinesOfModules) { EXPECT_IN_OWN_PROCESS(programs_write_lines_of_modules); }

void the_runtime_says_what_it_does() {
    TemporaryDirectory directory;
    set_log(directory, "1", "");
    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_NE(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_NE(aclrtCreateStream(nullptr), ACL_SUCCESS);
    ASSERT_ACL_OK(aclrtResetDevice(0));
    ASSERT_ACL_OK(aclFinalize());
    const std::string text = contents_of(directory.path() + "/debug/plog");
    for (const char* words : {"[INFO] ASCENDCL(", "[aclInit]", "device 0 is open", " is created", " is destroyed",
                              "[ERROR] ASCENDCL(", "[aclrtDestroyStream]", "EE1001: ", "(code 107017)",
                              "EH0002: Argument stream must not be null (code 100000)", "[aclFinalize]"})
        EXPECT_NE(text.find(words), std::string::npos) << words << " is missing in:\n" << text;
}

TEST(LogDeathTest, TheRuntimeSaysWhatItDoes) { EXPECT_IN_OWN_PROCESS(the_runtime_says_what_it_does); }

void callbacks_get_lines() {
    TemporaryDirectory directory;
    set_log(directory, "3", "");
    std::vector<std::string> lines, events;
    const acllogRecordCallback keep = [](int32_t module, int32_t level, const char* text, uint32_t length, void* to) {
        EXPECT_TRUE(module == HCCL || module == GE);
        EXPECT_LE(level, DLOG_ERROR);
        static_cast<std::vector<std::string>*>(to)->emplace_back(text, length);
        acllogRecord(GE, DLOG_ERROR, "from a callback: dropped");
    };
    acllogCallbackHandle first = nullptr, second = nullptr;
    ASSERT_EQ(acllogRegisterCallback(keep, &lines, OUTPUT_TYPE_DEBUG, &first), 0);
    ASSERT_EQ(acllogRegisterCallback(keep, &events, OUTPUT_TYPE_RUN, &second), 0);
    acllogRecord(HCCL, DLOG_ERROR, "line %d", 1);
    acllogRecord(HCCL, DLOG_INFO, "hidden");
    AlogRecord(HCCL, DLOG_TYPE_RUN, DLOG_INFO, "event");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(lines[0].ends_with(" line 1")) << lines[0];
    ASSERT_EQ(events.size(), 1u);
    EXPECT_TRUE(events[0].ends_with(" event")) << events[0];
    EXPECT_EQ(acllogUnregisterCallback(first), 0);
    EXPECT_EQ(acllogUnregisterCallback(first), -1);
    EXPECT_EQ(acllogUnregisterCallback(nullptr), -1);
    acllogRecord(HCCL, DLOG_ERROR, "not seen");
    EXPECT_EQ(lines.size(), 1u);
    EXPECT_EQ(acllogRegisterCallback(nullptr, nullptr, OUTPUT_TYPE_BOTH, &first), -1);
    EXPECT_EQ(acllogRegisterCallback(keep, nullptr, 3, &first), -1);
    EXPECT_EQ(acllogRegisterCallback(keep, nullptr, OUTPUT_TYPE_BOTH, nullptr), -1);
    for (int more = 0; more < 15; ++more) EXPECT_EQ(acllogRegisterCallback(keep, &lines, OUTPUT_TYPE_BOTH, &first), 0);
    EXPECT_EQ(acllogRegisterCallback(keep, &lines, OUTPUT_TYPE_BOTH, &first), -1);
    EXPECT_EQ(contents_of(directory.path() + "/debug/plog").find("dropped"), std::string::npos);
}

TEST(LogDeathTest, CallbacksGetLines) { EXPECT_IN_OWN_PROCESS(callbacks_get_lines); }

void a_folder_that_cannot_be_written_harms_nothing() {
    setenv("ASCEND_PROCESS_LOG_PATH", "/proc/nowhere", 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    for (int turn = 0; turn < 100; ++turn) aclAppLog(ACL_ERROR, "work", "main.cpp", 1, "lost");
    ASSERT_ACL_OK(aclFinalize());
}

TEST(LogDeathTest, AFolderThatCannotBeWrittenHarmsNothing) {
    EXPECT_IN_OWN_PROCESS(a_folder_that_cannot_be_written_harms_nothing);
}

}  // namespace
}  // namespace conformance
