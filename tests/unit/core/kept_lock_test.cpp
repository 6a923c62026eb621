// SPDX-License-Identifier: Apache-2.0
// Locks of rings that threads keep, and take away from each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/queue/kept_ends.h"
#include "core/queue/queue.h"
#include "core/queue/shared/ring.h"
#include "until.h"

using namespace canopy;

namespace {

constexpr Deadline at_once{0};

// One thread's end of a ring; keeps the lock whenever it can.
class Writer {
public:
    explicit Writer(Ring& ring) : ring_(ring) {}
    ~Writer() {
        if (kept_ != 0) ring_.give_up_writing(kept_);
    }
    // False: there is no room.
    bool put(std::uint64_t value) {
        for (;;) {
            if (kept_ == 0) kept_ = ring_.keep_writing();
            if (kept_ == 0) continue;
            const Ring::Kept result = ring_.put_kept(kept_, &value, sizeof value, nullptr, 0);
            if (result == Ring::Kept::lost || result == Ring::Kept::done_and_lost) {
                ++losses;
                ring_.give_up_writing(kept_);
                kept_ = 0;
            }
            if (result == Ring::Kept::done || result == Ring::Kept::done_and_lost) return true;
            if (result == Ring::Kept::wait) return false;
        }
    }
    int losses = 0;

private:
    Ring& ring_;
    std::uint64_t kept_ = 0;
};

class Reader {
public:
    explicit Reader(Ring& ring) : ring_(ring) {}
    ~Reader() {
        if (kept_ != 0) ring_.give_up_reading(kept_);
    }
    bool take(std::uint64_t& value) {
        for (;;) {
            if (kept_ == 0) kept_ = ring_.keep_reading();
            if (kept_ == 0) continue;
            Item item;
            const Ring::Kept result = ring_.take_kept(kept_, item, sizeof value);
            if (result == Ring::Kept::lost || result == Ring::Kept::done_and_lost) {
                ring_.give_up_reading(kept_);
                kept_ = 0;
            }
            if (result == Ring::Kept::done || result == Ring::Kept::done_and_lost) {
                std::memcpy(&value, item.area.data(), sizeof value);
                return true;
            }
            if (result == Ring::Kept::wait) return false;
        }
    }

private:
    Ring& ring_;
    std::uint64_t kept_ = 0;
};

bool put_with_lock(Ring& ring, std::uint64_t value) {
    std::uint64_t index = 0;
    if (ring.begin_write(at_once, index) != Ring::Outcome::done) return false;
    Item item{};
    item.kind = ItemKind::inside;
    item.length = sizeof value;
    std::memcpy(item.area.data(), &value, sizeof value);
    ring.put(index, item);
    ring.commit_write(index);
    return true;
}
bool take_with_lock(Ring& ring, std::uint64_t& value) {
    std::uint64_t index = 0;
    if (ring.begin_read(at_once, index) != Ring::Outcome::done) return false;
    const Item item = ring.get(index);
    std::memcpy(&value, item.area.data(), sizeof value);
    ring.commit_read(index);
    return true;
}

class KeptLock : public testing::Test {
protected:
    void SetUp() override {
        if (!may_keep_locks()) GTEST_SKIP() << "this system cannot order the memory of other processes";
        ASSERT_TRUE(ring.create(1, 16));
    }
    Ring ring;
};

TEST_F(KeptLock, IsTakenAwayByOneWhoWantsIt) {
    Writer keeper(ring);
    Reader reader(ring);
    EXPECT_TRUE(keeper.put(1));
    EXPECT_TRUE(keeper.put(2));
    EXPECT_EQ(keeper.losses, 0);
    EXPECT_TRUE(put_with_lock(ring, 3));
    EXPECT_TRUE(keeper.put(4));
    EXPECT_EQ(keeper.losses, 1);
    std::uint64_t value = 0;
    for (const std::uint64_t expected : {1, 2}) {
        EXPECT_TRUE(reader.take(value));
        EXPECT_EQ(value, expected);
    }
    EXPECT_TRUE(take_with_lock(ring, value));
    EXPECT_EQ(value, 3u);
    EXPECT_TRUE(reader.take(value));
    EXPECT_EQ(value, 4u);
    EXPECT_FALSE(reader.take(value));
}

TEST_F(KeptLock, TellsWhyAnItemIsNotTaken) {
    const std::uint64_t writing = ring.keep_writing(), reading = ring.keep_reading();
    ASSERT_NE(writing, 0u);
    ASSERT_NE(reading, 0u);
    Item item;
    EXPECT_EQ(ring.take_kept(reading, item, 100), Ring::Kept::wait);
    for (std::uint32_t i = 0; i < ring.depth(); ++i)
        EXPECT_EQ(ring.put_kept(writing, "four", 4, "user", 4), Ring::Kept::done);
    EXPECT_EQ(ring.put_kept(writing, "four", 4, "user", 4), Ring::Kept::wait);
    EXPECT_EQ(ring.take_kept(reading, item, 3), Ring::Kept::other);
    EXPECT_EQ(ring.take_kept(reading, item, 4), Ring::Kept::done);
    EXPECT_EQ(std::memcmp(item.area.data(), "fouruser", 8), 0);
    EXPECT_EQ(item.length, 4u);
    EXPECT_EQ(item.user_length, 4u);
    EXPECT_EQ(ring.count(), ring.depth() - 1);
    ring.close();  // takes both locks
    EXPECT_EQ(ring.put_kept(writing, "four", 4, nullptr, 0), Ring::Kept::lost);
    ring.give_up_writing(writing);
    ring.give_up_reading(reading);
}

TEST_F(KeptLock, HasAPlaceForEachOfEightKeepers) {
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t kept = ring.keep_writing();
        ASSERT_NE(kept, 0u) << "a place was not given back";
        ring.give_up_writing(kept);
    }
    // A lock that was taken away is not kept at once by the one who took it: others may wait, too.
    const auto keep = [&] {
        const std::uint64_t kept = ring.keep_writing();
        return kept != 0 ? kept : ring.keep_writing();
    };
    std::vector<std::uint64_t> words;
    for (std::uint32_t i = 0; i < SharedLock::keepers; ++i) words.push_back(keep());
    EXPECT_EQ(keep(), 0u);  // those who lost it have not noticed
    EXPECT_TRUE(put_with_lock(ring, 1));
    for (const std::uint64_t word : words) {
        ASSERT_NE(word, 0u);
        EXPECT_EQ(ring.put_kept(word, "x", 1, nullptr, 0), Ring::Kept::lost);
        ring.give_up_writing(word);
    }
    EXPECT_EQ(ring.count(), 1u);
    EXPECT_NE(keep(), 0u);
}

// The end with the number 0 is one that is not kept now.
TEST_F(KeptLock, IsNotThatOfAQueueWithTheNumberZero) {
    constexpr std::uint32_t number = 8;
    DataQueue queue;
    std::thread keeper([&] {  // that has kept no end before
        for (std::uint64_t i = 0; i < 1000 && KeptEnds::writing(number) == nullptr; ++i)
            KeptEnds::count_written(queue, ring, number, i);
        KeptEnd* const end = KeptEnds::writing(number);
        ASSERT_NE(end, nullptr);
        EXPECT_EQ(KeptEnds::writing(0), nullptr);
        end->give_back(number);
        EXPECT_EQ(KeptEnds::writing(number), nullptr);
        EXPECT_EQ(KeptEnds::writing(0), nullptr);
    });
    keeper.join();
    KeptEnds::forget(queue, number);
}

// Two writers that keep the lock, one that does not, and the same of readers. No writer gets far ahead of the others,
// so they take the lock away from each other.
TEST_F(KeptLock, MovesBetweenThreadsWithoutLosingAnItem) {
    constexpr std::uint64_t writers = 3, each = 3000, ahead = 100;
    std::vector<std::atomic<int>> seen(writers * each);
    std::array<std::atomic<std::uint64_t>, writers> written{};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<int> losses{0};
    std::vector<std::thread> threads;
    for (std::uint64_t number = 0; number < writers; ++number) {
        threads.emplace_back([&, number] {
            Writer writer(ring);
            const auto others_follow = [&](std::uint64_t i) {
                return std::all_of(written.begin(), written.end(), [&](auto& other) { return i < other + ahead; });
            };
            for (std::uint64_t i = 0; i < each; ++i) {
                while (!others_follow(i)) std::this_thread::yield();
                while (!(number == 0 ? put_with_lock(ring, i) : writer.put(number * each + i)))
                    std::this_thread::yield();
                ++written.at(number);
            }
            losses += writer.losses;
        });
        threads.emplace_back([&, number] {
            Reader reader(ring);
            while (taken.load() < writers * each) {
                std::uint64_t value = 0;
                if (number == 0 ? take_with_lock(ring, value) : reader.take(value)) {
                    ++seen.at(value);
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& count : seen) ASSERT_EQ(count.load(), 1);
    EXPECT_GT(losses.load(), 0);
}

// A sleeping reader is woken by an item that is put inside a kept lock, which has no fence.
TEST_F(KeptLock, WakesThoseWhoSleep) {
    constexpr std::uint64_t items = 300;
    std::thread reader([&] {
        Reader end(ring);
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < items; ++i) {
            while (!end.take(value)) ASSERT_EQ(ring.await_item(Deadline::after(60 * second)), Ring::Outcome::done);
            ASSERT_EQ(value, i);
        }
    });
    Writer writer(ring);
    const auto sleeps = [&] { return ring.count() == 0 && (ring.items_word().word().load() & 1) != 0; };
    for (std::uint64_t i = 0; i < items; ++i) {
        while (!writer.put(i)) ASSERT_EQ(ring.await_room(Deadline::after(60 * second)), Ring::Outcome::done);
        if (i % 8 == 0 && i + 1 < items) {
            ASSERT_TRUE(eventually(sleeps));
        }
    }
    reader.join();
}

}  // namespace
