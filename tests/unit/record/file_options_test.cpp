// SPDX-License-Identifier: Apache-2.0
// Files of a limited size, and of some devices.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "foundation/files.h"
#include "record/recorder.h"

namespace canopy::record {
namespace {

Record record_of(profile::Kind kind, std::uint64_t link) {
    Record record{};
    record.begin = ticks();
    record.kind = static_cast<std::uint64_t>(kind);
    record.link = link;
    return record;
}

TEST(FileOptions, AFileStaysBelowItsLimitAndCountsTheRest) {
    auto folder = TemporaryFolder::create("options-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    constexpr std::uint64_t limit = 2u << 20, count = 200'000;
    FileOptions options;
    options.limit = limit;
    auto recording = record_to(path, tasks, options);
    ASSERT_TRUE(recording.ok()) << recording.message();
    for (std::uint64_t each = 0; each < count; ++each) {
        // Numbers that differ much take many bytes.
        Record record = record_of(profile::Kind::task, each * 0x9E3779B97F4A7C15u);
        record.object = static_cast<std::uint32_t>(each * 2654435761u);
        write(record);
        if (each % 10'000 == 0) flush();
    }
    EXPECT_EQ((*recording)->finish().message(), "");
    EXPECT_LT(std::filesystem::file_size(path), limit);
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->damage(), "");
    EXPECT_EQ(file->fact("storage_limit"), std::to_string(limit));
    EXPECT_GT(file->record_count(), 0u);
    EXPECT_LT(file->record_count(), count);
    EXPECT_EQ(file->record_count() + file->lost(), count);
    std::uint64_t next = 0;
    file->visit([&](const profile::Thread&, std::span<const Record> records) {
        for (const Record& record : records) ASSERT_EQ(record.link, next++ * 0x9E3779B97F4A7C15u);
    });
}

TEST(FileOptions, CountsOfWhatIsLostStayBelowTheLimitToo) {
    auto folder = TemporaryFolder::create("options-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    constexpr std::uint64_t limit = (1u << 20) + 4096, count = 100'000;
    FileOptions options;
    options.limit = limit;
    auto recording = record_to(path, tasks, options);
    ASSERT_TRUE(recording.ok()) << recording.message();
    for (std::uint64_t each = 0; each < count; ++each) {
        lose_record();
        flush();
    }
    EXPECT_EQ((*recording)->finish().message(), "");
    EXPECT_LT(std::filesystem::file_size(path), limit);
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->lost(), count);
}

TEST(FileOptions, RecordsOfOtherDevicesAreLeftOut) {
    auto folder = TemporaryFolder::create("options-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = folder->path() + "/profile";
    FileOptions options;
    options.devices = 1u << 1;
    auto recording = record_to(path, everything, options);
    ASSERT_TRUE(recording.ok()) << recording.message();
    for (const std::uint32_t device : {0u, 1u}) {
        const std::uint32_t stream = 100 + device;
        tell_stream({stream, device, 0});
        const std::uint64_t link = profile::link_of(stream, 7);
        Record task = record_of(profile::Kind::task, link);
        task.object = profile::TaskObject{profile::TaskType::kernel, 0, static_cast<std::uint8_t>(device), 0}.packed();
        write(task);
        write(record_of(profile::Kind::block, link));
        Record memory = record_of(profile::Kind::memory, 0);
        memory.object =
            profile::MemoryObject{profile::MemoryChange::allocated, static_cast<std::uint8_t>(device)}.packed();
        write(memory);
    }
    write(record_of(profile::Kind::call, 0));
    write(record_of(profile::Kind::mark, profile::link_of(100, 9)));
    EXPECT_EQ((*recording)->finish().message(), "");
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    std::vector<profile::Kind> kinds;
    file->visit([&](const profile::Thread&, std::span<const Record> records) {
        for (const Record& record : records) {
            kinds.push_back(record.what());
            if (record.what() == profile::Kind::task)
                EXPECT_EQ(profile::TaskObject::of(record.object).device, 1);
            else if (record.what() == profile::Kind::block)
                EXPECT_EQ(profile::stream_of(record.link), 101u);
        }
    });
    EXPECT_EQ(kinds, (std::vector{profile::Kind::task, profile::Kind::block, profile::Kind::memory, profile::Kind::call,
                                  profile::Kind::mark}));
}

}  // namespace
}  // namespace canopy::record
