// SPDX-License-Identifier: Apache-2.0
// Recording into a file.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "foundation/files.h"
#include "profile/profile_writer.h"
#include "record/process_recording.h"
#include "record/recorder.h"

namespace canopy::record {
namespace {

void write_some(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        Record record{};
        record.begin = ticks();
        record.kind = static_cast<std::uint64_t>(profile::Kind::task);
        record.name = name_number("some work");
        record.link = i;
        write(record);
    }
}

TEST(Recording, AFileHoldsTheRecordsAndWhatTheyMean) {
    auto folder = TemporaryFolder::create("recording-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    auto recording = record_to(path, everything);
    ASSERT_TRUE(recording.ok()) << recording.message();
    EXPECT_EQ((*recording)->path(), path);
    write_some(10'000);
    EXPECT_EQ((*recording)->finish().message(), "");
    EXPECT_EQ((*recording)->finish().message(), "");  // has no effect
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->damage(), "");
    EXPECT_EQ(file->record_count() + file->lost(), 10'000u);
    EXPECT_EQ(file->process(), static_cast<std::uint64_t>(::getpid()));
    EXPECT_NE(file->fact("program").find("unit_tests"), std::string::npos);
    EXPECT_NE(file->fact("arguments"), "");
    EXPECT_NE(file->fact("version"), "");
    EXPECT_GT(std::stod(std::string(file->fact("cost_of_a_record_ns"))), 0);
    std::uint64_t next = 0;
    file->visit([&](const profile::Thread& thread, std::span<const Record> records) {
        EXPECT_EQ(thread.system_id, static_cast<std::uint32_t>(::gettid()));
        for (const Record& record : records) {
            ASSERT_EQ(record.link, next++);
            ASSERT_EQ(file->name(record), "some work");
            ASSERT_NEAR(file->nanoseconds(record.begin), static_cast<double>(now()), 60e9);
        }
    });
}

TEST(Recording, AFullDiskIsSaidWithTheNumberOfMissingRecords) {
    auto folder = TemporaryFolder::create("recording-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto recording = record_to(path, everything);
    ASSERT_TRUE(recording.ok()) << recording.message();
    rlimit limit = before;
    limit.rlim_cur = 16'384;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_some(10'000);
    const Problem problem = (*recording)->finish();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(problem.message().find(path), std::string::npos);
    EXPECT_NE(problem.message().find("records are missing"), std::string::npos) << problem.message();
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_LT(file->record_count(), 10'000u);
}

TEST(Recording, AFolderThatCannotBeWrittenIsSaid) {
    EXPECT_NE(record_to("/proc/profile", everything).message(), "");
    EXPECT_NE(record_to("/no/such/folder/profile", everything).message(), "");
    EXPECT_FALSE(wants(everything));
}

TEST(Recording, AFolderThatVanishesIsSaid) {
    std::string path;
    std::unique_ptr<Recording> recording;
    {
        auto folder = TemporaryFolder::create("recording-test");
        ASSERT_TRUE(folder.ok());
        path = folder->path() + "/profile";
        auto made = record_to(path, everything);
        ASSERT_TRUE(made.ok());
        recording = std::move(*made);
    }
    write_some(100);
    EXPECT_NE(recording->finish().message().find("removed"), std::string::npos);
}

TEST(Recording, ListsOfWhatIsWanted) {
    EXPECT_EQ(wanted_of("everything"), std::uint32_t{everything});
    EXPECT_EQ(wanted_of("calls,tasks"), calls | tasks);
    EXPECT_EQ(wanted_of(""), std::nullopt);
    EXPECT_EQ(wanted_of("calls,"), std::nullopt);
    EXPECT_EQ(wanted_of("call"), std::nullopt);
    EXPECT_EQ(wanted_text(everything), "everything");
    EXPECT_EQ(wanted_of(wanted_text(blocks | marks)), blocks | marks);
}

TEST(RecorderFork, AChildLeavesTheFileToItsParent) {
    auto folder = TemporaryFolder::create("recording-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    auto recording = record_to(path, everything);
    ASSERT_TRUE(recording.ok());
    write_some(10);
    const pid_t child = ::fork();
    if (child == 0) {
        write_some(10);
        const bool quiet = !(*recording)->finish();
        ::_exit(quiet ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    write_some(5);
    EXPECT_EQ((*recording)->finish().message(), "");
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->record_count(), 15u);
    EXPECT_EQ(file->damage(), "");
}

TEST(RecorderFork, AChildThatLivesOnDoesNotKeepTheFile) {
    auto folder = TemporaryFolder::create("recording-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    auto recording = record_to(path, everything);
    ASSERT_TRUE(recording.ok());
    int alive[2];
    ASSERT_EQ(::pipe(alive), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(alive[1]);
        char end = 0;
        ::_exit(static_cast<int>(::read(alive[0], &end, 1)));
    }
    EXPECT_TRUE(profile::ProfileWriter::in_use(path));
    EXPECT_EQ((*recording)->finish().message(), "");
    EXPECT_FALSE(profile::ProfileWriter::in_use(path));
    EXPECT_EQ(record_to(path, everything).message(), "");
    ::close(alive[0]);
    ::close(alive[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace canopy::record
