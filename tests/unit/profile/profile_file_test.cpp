// SPDX-License-Identifier: Apache-2.0
// The file of a profile: what is written is read, and bytes that anybody wrote never crash the reader.
#include "profile/profile_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "foundation/files.h"
#include "profile/profile_writer.h"

namespace canopy::profile {
namespace {

Record random_record(std::mt19937_64& random) {
    Record record{};
    const std::uint64_t bits = random();
    record.begin = (bits & 1) != 0 ? random() : random() % 1000;
    record.duration = (bits & 2) != 0 ? random() & longest_duration : random() % 100;
    record.kind = random() % static_cast<std::uint64_t>(Kind::count_);
    record.name = random() & last_name;
    record.object = (bits & 4) != 0 ? static_cast<std::uint32_t>(random()) : 7;
    record.argument = static_cast<std::uint32_t>(random());
    record.link = (bits & 8) != 0 ? random() : 5;
    return record;
}

std::vector<Record> random_records(std::mt19937_64& random, std::size_t count) {
    std::vector<Record> records;
    for (std::size_t i = 0; i < count; ++i) records.push_back(random_record(random));
    return records;
}

bool same(const Record& one, const Record& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

class ProfileFiles : public testing::Test {
protected:
    void SetUp() override {
        auto made = TemporaryFolder::create("profile-test");
        ASSERT_TRUE(made.ok());
        folder.emplace(std::move(*made));
        path = folder->path() + "/profile";
    }
    // A small profile with everything in it.
    std::vector<Record> write_profile() {
        FileHead head;
        head.process = 42;
        head.unix_time = 1'700'000'000'000'000'000;
        head.monotonic_time = 1000;
        head.ticks = 5000;
        auto writer = ProfileWriter::create(path, head);
        EXPECT_TRUE(writer.ok()) << writer.message();
        writer->fact("program", "/bin/true");
        writer->text(3, "a kernel");
        writer->thread(1, 77, ThreadRole::worker, 2, "worker 2");
        writer->device(0, "soft", "Ascend910B1", 24, 48, 8, 2, 1 << 30);
        writer->stream(9, 0, 5);
        std::mt19937_64 random(1);
        const std::vector<Record> records = random_records(random, 200);
        writer->records(1, records);
        writer->lost(1, 12);
        writer->clock(7000, 2000);
        writer->close();
        EXPECT_FALSE(writer->problem());
        return records;
    }
    std::optional<TemporaryFolder> folder;
    std::string path;
};

TEST_F(ProfileFiles, WhatIsWrittenIsRead) {
    const std::vector<Record> written = write_profile();
    auto file = ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->damage(), "");
    EXPECT_EQ(file->process(), 42u);
    EXPECT_EQ(file->fact("program"), "/bin/true");
    EXPECT_EQ(file->text(3), "a kernel");
    EXPECT_EQ(file->lost(), 12u);
    EXPECT_EQ(file->record_count(), written.size());
    ASSERT_EQ(file->threads().size(), 1u);
    EXPECT_EQ(file->threads()[0].name, "worker 2");
    EXPECT_EQ(file->devices().at(0).chip, "Ascend910B1");
    EXPECT_EQ(file->streams().at(9).priority, 5u);
    EXPECT_DOUBLE_EQ(file->nanoseconds(6000), 1500);
    EXPECT_EQ(file->unix_time(6000), 1'700'000'000'000'000'500);
    std::vector<Record> read;
    file->visit([&](const Thread& thread, std::span<const Record> records) {
        EXPECT_EQ(thread.number, 1u);
        read.insert(read.end(), records.begin(), records.end());
    });
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_TRUE(same(read[i], written[i])) << i;
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ProfileFiles, RecordsAreTheSameAfterEncoding) {
    std::mt19937_64 random(2);
    for (std::size_t count : {0u, 1u, 2u, 1000u}) {
        const std::vector<Record> records = random_records(random, count);
        Bytes bytes;
        put_records(bytes, 5, records);
        std::uint32_t thread = 0;
        std::vector<Record> read;
        ASSERT_TRUE(take_records(bytes.span(), thread, read));
        EXPECT_EQ(thread, 5u);
        ASSERT_EQ(read.size(), count);
        for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same(read[i], records[i]));
        for (std::size_t size = 0; size < std::min<std::size_t>(bytes.size(), 200); ++size)
            EXPECT_FALSE(take_records(bytes.span().first(size), thread, read));
    }
}

TEST_F(ProfileFiles, TheLongestRecordsFitIntoAChunk) {
    std::vector<Record> records(most_records_in_chunk);
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].begin = i % 2 != 0 ? 0 : UINT64_MAX / 2;
        records[i].duration = longest_duration;
        records[i].name = i % 2 != 0 ? last_name : last_name - 1;
        records[i].object = UINT32_MAX - static_cast<std::uint32_t>(i % 2);
        records[i].argument = UINT32_MAX;
        records[i].link = i % 2 != 0 ? 0 : UINT64_MAX / 2;
    }
    Bytes bytes;
    put_records(bytes, UINT32_MAX, records);
    EXPECT_LE(bytes.size(), largest_chunk);
}

// Opens a profile and visits everything in it.
std::string read_everything(const std::string& path) {
    auto file = ProfileFile::open(path);
    if (!file.ok()) return file.message();
    std::uint64_t sum = 0;
    file->visit([&](const Thread& thread, std::span<const Record> records) {
        for (const Record& record : records) sum += record.begin + thread.number + file->name(record).size();
        if (!records.empty()) sum += static_cast<std::uint64_t>(file->unix_time(records[0].begin));
    });
    return sum == 1 ? "the sum is 1" : file->damage();
}

TEST_F(ProfileFiles, EveryTruncationIsSaid) {
    write_profile();
    std::string content;
    ASSERT_TRUE(read_file(path, content));
    for (std::size_t size = 0; size < content.size(); ++size) {
        ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(content.size() - size - 1)), 0);
        EXPECT_NE(read_everything(path), "") << "cut to " << content.size() - size - 1 << " bytes";
    }
}

TEST_F(ProfileFiles, ChangedBytesNeverCrashTheReader) {
    write_profile();
    std::string content;
    ASSERT_TRUE(read_file(path, content));
    std::mt19937_64 random(3);
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t at = random() % content.size();
        const char changed = static_cast<char>(content[at] ^ static_cast<char>(1 + random() % 255));
        ASSERT_EQ(::pwrite(file, &changed, 1, static_cast<off_t>(at)), 1);
        const std::string said = read_everything(path);
        if (at >= sizeof(FileHead)) EXPECT_NE(said, "") << "byte " << at;
        ASSERT_EQ(::pwrite(file, &content[at], 1, static_cast<off_t>(at)), 1);
    }
    ::close(file);
    EXPECT_EQ(read_everything(path), "");
}

TEST_F(ProfileFiles, WhatIsNoProfileIsRefused) {
    EXPECT_NE(read_everything(path), "");
    EXPECT_NE(read_everything(folder->path()), "");
    EXPECT_NE(read_everything("/dev/null"), "");
    ASSERT_TRUE(write_file(path, std::string(100, 'x')));
    EXPECT_NE(read_everything(path).find("not a profile"), std::string::npos);
}

// ---- writing under difficulties -------------------------------------------------------------------------------------

TEST_F(ProfileFiles, AFileThatMayNotGrowEndsTheProfileAndNotTheProgram) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit limit = before;
    limit.rlim_cur = 8192;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    auto writer = ProfileWriter::create(path, FileHead{});
    std::mt19937_64 random(4);
    if (writer.ok())
        for (int i = 0; i < 10; ++i) writer->records(1, random_records(random, 200));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_TRUE(writer.ok()) << writer.message();
    EXPECT_NE(writer->problem().message().find(std::strerror(EFBIG)), std::string::npos);
    writer->close();
    sigset_t pending;
    sigpending(&pending);
    EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
    auto file = ProfileFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_GE(file->record_count(), 200u);
    EXPECT_NE(file->damage(), "");
}

TEST_F(ProfileFiles, AFileWithoutRoomForItsHeaderIsNotLeft) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit limit = before;
    limit.rlim_cur = 0;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::string said = ProfileWriter::create(path, FileHead{}).message();
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_NE(said.find(std::strerror(EFBIG)), std::string::npos);
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(ProfileFiles, NothingButFilesIsReplaced) {
    EXPECT_NE(ProfileWriter::create("/dev/null", FileHead{}).message(), "");
    EXPECT_EQ(::access("/dev/null", F_OK), 0);
    EXPECT_NE(ProfileWriter::create(folder->path(), FileHead{}).message(), "");
    EXPECT_NE(ProfileWriter::create(folder->path() + "/missing/profile", FileHead{}).message(), "");
    // A link is replaced, and what it points at is left alone.
    ASSERT_TRUE(write_file(folder->path() + "/other", "text"));
    ASSERT_EQ(::symlink("other", path.c_str()), 0);
    EXPECT_TRUE(ProfileWriter::create(path, FileHead{}).ok());
    std::string content;
    ASSERT_TRUE(read_file(folder->path() + "/other", content));
    EXPECT_EQ(content, "text");
}

TEST_F(ProfileFiles, AFileThatIsBeingWrittenIsNotReplaced) {
    auto writer = ProfileWriter::create(path, FileHead{});
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE(ProfileWriter::in_use(path));
    EXPECT_NE(ProfileWriter::create(path, FileHead{}).message().find("another profile"), std::string::npos);
    writer->close();
    EXPECT_FALSE(writer->problem());
    EXPECT_FALSE(ProfileWriter::in_use(path));
    EXPECT_TRUE(ProfileWriter::create(path, FileHead{}).ok());
}

TEST_F(ProfileFiles, ThoseWhoLookWhetherAFileIsInUseHinderNobody) {
    std::atomic<bool> ending{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            while (!ending.load()) static_cast<void>(ProfileWriter::in_use(path));
        });
    for (int round = 0; round < 1000; ++round) EXPECT_EQ(ProfileWriter::create(path, FileHead{}).message(), "");
    ending = true;
    for (std::thread& thread : threads) thread.join();
}

TEST_F(ProfileFiles, OfSeveralWritersThatBeginTogetherOneGetsTheFile) {
    std::atomic<int> writing{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round) {
                auto writer = ProfileWriter::create(path, FileHead{});
                if (!writer.ok()) continue;
                EXPECT_EQ(writing.fetch_add(1), 0);
                writing.fetch_sub(1);
                writer->close();
                EXPECT_EQ(writer->problem().message(), "");
            }
        });
    for (std::thread& thread : threads) thread.join();
}

TEST_F(ProfileFiles, AFileThatWasRemovedIsSaid) {
    auto writer = ProfileWriter::create(path, FileHead{});
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ(::unlink(path.c_str()), 0);
    writer->close();
    EXPECT_NE(writer->problem().message().find("removed"), std::string::npos);
}

}  // namespace
}  // namespace canopy::profile
