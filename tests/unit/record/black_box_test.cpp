// SPDX-License-Identifier: Apache-2.0
// The black box: what it holds of a process that was killed, and what a reader makes of damaged ones.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "foundation/files.h"
#include "profile/black_boxes.h"
#include "record/black_box.h"
#include "record/process_recording.h"
#include "record/recorder.h"
#include "until.h"

namespace canopy::record {
namespace {

// What the processes of a test share.
struct Progress {
    std::atomic<std::uint64_t> written{0};
};

class BlackBoxes : public testing::Test {
protected:
    BlackBoxes() : folder_(TemporaryFolder::create("black-box-test")) {
        const char* const before = std::getenv("XDG_RUNTIME_DIR");
        if (before) before_ = before;
        had_place_ = before != nullptr;
        ::setenv("XDG_RUNTIME_DIR", folder_->path().c_str(), 1);
        void* memory = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        progress_ = memory == MAP_FAILED ? nullptr : new (memory) Progress;
    }
    ~BlackBoxes() override {
        if (progress_) ::munmap(progress_, sizeof(Progress));
        if (had_place_)
            ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1);
        else
            ::unsetenv("XDG_RUNTIME_DIR");
    }

    // A child that does this and is killed when it has written so many records and a moment more.
    std::string killed(const std::function<void()>& work, std::uint64_t count, std::uint32_t spins = 0) {
        progress_->written = 0;
        const pid_t child = ::fork();
        if (child == 0) {
            work();
            for (;;) ::pause();
        }
        EXPECT_TRUE(eventually([&] { return progress_->written.load() >= count; }));
        for (std::atomic<std::uint32_t> i = 0; i < spins; ++i) {
        }
        ::kill(child, SIGKILL);
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        return folder_->path() + "/canopy/blackbox-" + std::to_string(child);
    }
    void write_some(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            Record record{};
            record.begin = ticks();
            record.kind = static_cast<std::uint64_t>(profile::Kind::task);
            record.name = name_number("some work");
            record.link = progress_->written.load(std::memory_order_relaxed);
            write(record);
            progress_->written.store(record.link + 1, std::memory_order_release);
        }
    }
    void keep_or_end(bool alone) {
        if (keep_black_box(alone)) ::_exit(1);
    }

    // The number of the first record and of the one behind the last; all between are there.
    struct Range {
        std::uint64_t first = 0, end = 0;
    };
    static Range shown(profile::ProfileFile& file) {
        Range range;
        bool any = false;
        file.visit([&](const profile::Thread&, std::span<const Record> records) {
            for (const Record& record : records) {
                if (!any) range = {record.link, record.link};
                any = true;
                ASSERT_EQ(record.link, range.end++);
                ASSERT_EQ(file.name(record), "some work");
            }
        });
        return range;
    }

    Expected<TemporaryFolder> folder_;
    Progress* progress_ = nullptr;
    std::string before_;
    bool had_place_ = false;
};

TEST_F(BlackBoxes, AKilledProcessLeavesItsLastRecords) {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        const std::uint64_t least = random() % 3 == 0 ? 70'000 + random() % 50'000 : 1 + random() % 2'000;
        const std::string path = killed(
            [&] {
                keep_or_end(true);
                write_some(UINT64_MAX);
            },
            least, random() % 20'000);
        auto file = profile::ProfileFile::open(path);
        ASSERT_TRUE(file.ok()) << file.message();
        const Range range = shown(*file);
        const std::uint64_t written = progress_->written.load();
        EXPECT_GE(range.end, written);
        EXPECT_LE(range.end, written + 1);
        EXPECT_EQ(range.first, range.end < Ring::capacity ? 0 : range.end - Ring::capacity + 1);
        EXPECT_EQ(file->threads().size(), 1u);
        EXPECT_NE(file->fact("program").find("unit_tests"), std::string::npos);
        ::unlink(path.c_str());
    }
}

TEST_F(BlackBoxes, TheProfileOfAKilledProcessGetsItsLastRecordsFromIt) {
    const std::string profile = folder_->path() + "/profile";
    std::mt19937 random(2);
    for (int round = 0; round < 20; ++round) {
        const std::string path = killed(
            [&] {
                keep_or_end(false);
                auto recording = record_to(profile, everything);
                if (!recording.ok()) ::_exit(1);
                write_some(60'000);
                for (;;) ::pause();
            },
            1 + random() % 50'000, random() % 20'000);
        const std::uint64_t written = progress_->written.load();
        auto file = profile::ProfileFile::open_with_black_box(profile);
        ASSERT_TRUE(file.ok()) << file.message();
        EXPECT_EQ(file->black_box(), path);
        const Range range = shown(*file);
        EXPECT_EQ(range.first, 0u);
        EXPECT_GE(range.end, written);
        EXPECT_LE(range.end, written + 1);
        EXPECT_GE(file->record_count(), range.end);
        EXPECT_NE(file->damage(), "");
        // A copy holds all of it, with and without the black box.
        const std::string copy = folder_->path() + "/copy";
        EXPECT_EQ(file->copy_to(copy).message(), "");
        for (int with_box = 1; with_box >= 0; --with_box) {
            auto again = profile::ProfileFile::open_with_black_box(copy);
            ASSERT_TRUE(again.ok()) << again.message();
            EXPECT_EQ(shown(*again).end, range.end);
            ::unlink(path.c_str());
        }
    }
}

TEST_F(BlackBoxes, OneOfAnotherProcessIsNotJoined) {
    const std::string profile = folder_->path() + "/profile";
    const auto record = [&] {
        keep_or_end(false);
        auto recording = record_to(profile, everything);
        if (!recording.ok()) ::_exit(1);
        write_some(10);
        flush();
        for (;;) ::pause();
    };
    const std::string path = killed(record, 10);
    ASSERT_EQ(::rename(profile.c_str(), (profile + ".first").c_str()), 0);
    const std::string other = killed(record, 10);
    ASSERT_EQ(::rename(other.c_str(), path.c_str()), 0);
    auto file = profile::ProfileFile::open_with_black_box(profile + ".first");
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->black_box(), "");
}

TEST_F(BlackBoxes, ThreadsAfterEachOtherShareARing) {
    const std::string path = killed(
        [&] {
            keep_or_end(true);
            write_some(3);
            for (int i = 0; i < 3; ++i) std::thread([&] { write_some(2); }).join();
            progress_->written.store(100);
        },
        100);
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(shown(*file).end, 9u);
    EXPECT_EQ(file->threads().size(), 4u);
}

TEST_F(BlackBoxes, AChildLeavesItToItsParent) {
    int alive[2];
    ASSERT_EQ(::pipe(alive), 0);
    const std::string path = killed(
        [&] {
            keep_or_end(true);
            write_some(3);
            if (::fork() == 0) {
                ::close(alive[1]);
                write_some(5);
                name_number("of the child");
                progress_->written.store(50);
                char end = 0;
                ::_exit(static_cast<int>(::read(alive[0], &end, 1)));
            }
            if (!eventually([&] { return progress_->written.load() == 50; })) ::_exit(1);
            progress_->written.store(3);
            write_some(2);
            progress_->written.store(100);
        },
        100);
    // The child still lives.
    EXPECT_EQ(profile::dead_black_boxes().size(), 1u);
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(shown(*file).end, 5u);
    ::close(alive[0]);
    ::close(alive[1]);
}

TEST_F(BlackBoxes, TheNewestOfProcessesThatEndedAreKept) {
    std::string path;
    for (int i = 0; i < 7; ++i)
        path = killed(
            [&] {
                keep_or_end(true);
                write_some(1);
            },
            1);
    const auto found = profile::dead_black_boxes();
    EXPECT_EQ(found.size(), 5u);  // four, and that of the last process
    EXPECT_EQ(found.front(), path);
}

TEST_F(BlackBoxes, AFolderThatCannotBeWrittenIsSaid) {
    ::setenv("XDG_RUNTIME_DIR", "/proc", 1);
    EXPECT_NE(keep_black_box(true).message().find("/proc/canopy"), std::string::npos);
    EXPECT_FALSE(wants(everything));
    EXPECT_EQ(BlackBox::present(), nullptr);
}

TEST_F(BlackBoxes, WithoutRoomForARingTheProcessGoesOn) {
    const std::string path = killed(
        [&] {
            rlimit limit{};
            ::getrlimit(RLIMIT_FSIZE, &limit);
            limit.rlim_cur = 1 << 20;
            ::setrlimit(RLIMIT_FSIZE, &limit);
            keep_or_end(true);
            write_some(100);
        },
        100);
    auto file = profile::ProfileFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_EQ(file->record_count(), 0u);
    EXPECT_NE(file->fact("program"), "");
}

TEST_F(BlackBoxes, DamagedOnesAreReadUpToTheDamage) {
    const std::string path = killed(
        [&] {
            keep_or_end(true);
            write_some(200);
        },
        200);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    std::mt19937 random(3);
    constexpr std::uint64_t page = profile::ring_head_size;
    for (int round = 0; round < 5000; ++round) {
        // The chunks, the head of the ring, its first records, the chunks behind it.
        const std::uint64_t places[] = {random() % 400, page + random() % 16, 2 * page + random() % 6400,
                                        page + profile::ring_size + random() % 200};
        const auto place = static_cast<off_t>(places[random() % 4]);
        char before = 0;
        const auto changed = static_cast<char>(random());
        const bool there = ::pread(file, &before, 1, place) == 1;
        if (!there) continue;
        ASSERT_EQ(::pwrite(file, &changed, 1, place), 1);
        auto opened = profile::ProfileFile::open(path);
        if (opened.ok()) {
            std::uint64_t count = 0;
            opened->visit([&](const profile::Thread&, std::span<const Record> records) {
                for (const Record& record : records) ASSERT_LT(record.what(), profile::Kind::count_);
                count += records.size();
            });
            EXPECT_LE(count, opened->record_count());
            EXPECT_LT(count, Ring::capacity);
            EXPECT_NE(opened->damage(), "");
        } else {
            EXPECT_NE(opened.message(), "");
        }
        ASSERT_EQ(::pwrite(file, &before, 1, place), 1);
    }
    ::close(file);
}

}  // namespace
}  // namespace canopy::record
