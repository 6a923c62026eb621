// SPDX-License-Identifier: Apache-2.0
// The settings of the process's log, and its files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/process/log_files.h"
#include "core/process/log_settings.h"
#include "foundation/files.h"

namespace canopy {
namespace {

LogSettings settings_of(const std::map<std::string, std::string>& variables) {
    return read_log_settings([&](const char* name) -> std::optional<std::string_view> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional<std::string_view>(found->second);
    });
}

constexpr auto runtime = static_cast<std::uint32_t>(LogModule::runtime);
constexpr auto ascendcl = static_cast<std::uint32_t>(LogModule::ascendcl);

TEST(LogSettings, AreTheDefaultsWithoutVariables) {
    const LogSettings settings = settings_of({{"HOME", "/home/user"}});
    EXPECT_EQ(settings.level_of(runtime), LogLevel::error);
    EXPECT_EQ(settings.folder, "/home/user/ascend/log");
    EXPECT_EQ(settings.files, 10u);
    EXPECT_TRUE(settings.events);
    EXPECT_FALSE(settings.to_standard_output);
}

TEST(LogSettings, ModulesHaveTheirOwnLevels) {
    const LogSettings settings =
        settings_of({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}, {"ASCEND_MODULE_LOG_LEVEL", "RUNTIME=0:ASCENDCL=4"}});
    EXPECT_EQ(settings.level_of(runtime), LogLevel::debug);
    EXPECT_EQ(settings.level_of(ascendcl), LogLevel::none);
    EXPECT_EQ(settings.level_of(1), LogLevel::warning);
    EXPECT_EQ(settings.level_of(0xff01), LogLevel::warning);
}

TEST(LogSettings, OneBadEntryMakesAllModuleLevelsVoid) {
    for (const char* bad : {"RUNTIME=0:NOSUCH=1", "RUNTIME=0:ASCENDCL", "RUNTIME=0:ASCENDCL=5", "RUNTIME=0::ASCENDCL=1",
                            "RUNTIME=0:ASCENDCL=", "=", ":"})
        EXPECT_EQ(settings_of({{"ASCEND_MODULE_LOG_LEVEL", bad}}).level_of(runtime), LogLevel::error) << bad;
}

TEST(LogSettings, WrongValuesMeanTheDefault) {
    const LogSettings settings = settings_of({{"ASCEND_GLOBAL_LOG_LEVEL", "7"},
                                              {"ASCEND_GLOBAL_EVENT_ENABLE", "no"},
                                              {"ASCEND_LOG_PRINT_TO_STDOUT", "yes"},
                                              {"ASCEND_HOST_LOG_FILE_NUM", "1001"}});
    EXPECT_EQ(settings.level, LogLevel::error);
    EXPECT_TRUE(settings.events);
    EXPECT_FALSE(settings.to_standard_output);
    EXPECT_EQ(settings.files, 10u);
    EXPECT_EQ(settings_of({{"ASCEND_HOST_LOG_FILE_NUM", "1000"}}).files, 1000u);
    EXPECT_FALSE(settings_of({{"ASCEND_GLOBAL_EVENT_ENABLE", "0"}}).events);
}

TEST(LogSettings, TheFolderIsTheFirstThatIsNamed) {
    std::map<std::string, std::string> variables = {
        {"ASCEND_PROCESS_LOG_PATH", "/a"}, {"ASCEND_WORK_PATH", "/b"}, {"HOME", "/c"}};
    EXPECT_EQ(settings_of(variables).folder, "/a");
    variables.erase("ASCEND_PROCESS_LOG_PATH");
    EXPECT_EQ(settings_of(variables).folder, "/b");
    EXPECT_EQ(settings_of({}).folder, "");
}

TEST(LogSettings, ModulesHaveNames) {
    EXPECT_EQ(log_module_name(runtime), "RUNTIME");
    EXPECT_EQ(log_module_name(0xff00), "65280");
    EXPECT_EQ(log_module_name(2), "");
    EXPECT_FALSE(is_log_module(76));
    EXPECT_TRUE(is_log_module(0xffff));
}

class LogFilesTest : public testing::Test {
protected:
    void SetUp() override {
        auto made = TemporaryFolder::create("log");
        ASSERT_TRUE(made.ok());
        folder_.emplace(std::move(*made));
    }
    [[nodiscard]] std::vector<std::string> files(const std::string& type = "debug") const {
        std::vector<std::string> found;
        const std::string place = folder_->path() + "/" + type + "/plog";
        if (!std::filesystem::exists(place)) return found;
        for (const auto& entry : std::filesystem::directory_iterator(place)) found.push_back(entry.path().string());
        std::sort(found.begin(), found.end());
        return found;
    }
    static std::string content(const std::string& path) {
        std::string text;
        EXPECT_TRUE(read_file(path, text));
        return text;
    }
    std::optional<TemporaryFolder> folder_;
};

TEST_F(LogFilesTest, AFullFileIsFollowedByAnotherAndTheOldestIsRemoved) {
    LogFiles log(folder_->path(), LogType::debug, 3, 100);
    const std::string line(39, 'x');
    for (char number = '0'; number < '9'; ++number) log.write(line + number + "\n");  // two in a file
    const std::vector<std::string> found = files();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(content(found[0]), line + "4\n" + line + "5\n");
    EXPECT_EQ(content(found[2]), line + "8\n");
    EXPECT_NE(found[0].find("/plog-" + std::to_string(getpid()) + "_20"), std::string::npos) << found[0];
    struct stat facts {};
    ASSERT_EQ(stat(found[0].c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777u, 0640u);
}

TEST_F(LogFilesTest, TypesHaveFolders) {
    LogFiles(folder_->path(), LogType::run, 1).write("one\n");
    LogFiles(folder_->path(), LogType::security, 1).write("two\n");
    EXPECT_EQ(files("run").size(), 1u);
    EXPECT_EQ(files("security").size(), 1u);
    EXPECT_TRUE(files("debug").empty());
}

TEST_F(LogFilesTest, AFolderThatCannotBeMadeLosesLinesAndNothingElse) {
    ASSERT_TRUE(write_file(folder_->path() + "/debug", "in the way"));
    LogFiles log(folder_->path(), LogType::debug, 3);
    for (int turn = 0; turn < 1000; ++turn) log.write("lost\n");
    LogFiles nowhere("", LogType::debug, 3);
    nowhere.write("lost\n");
    EXPECT_EQ(content(folder_->path() + "/debug"), "in the way");
}

TEST_F(LogFilesTest, AFolderThatVanishesLosesLinesUntilTheNextFile) {
    LogFiles log(folder_->path(), LogType::debug, 3, 20);
    log.write("first line\n");
    std::filesystem::remove_all(folder_->path() + "/debug");
    log.write("second line\n");  // does not fit beside the first
    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(content(files()[0]), "second line\n");
}

}  // namespace
}  // namespace canopy
