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

#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

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

}  // namespace
}  // namespace conformance
