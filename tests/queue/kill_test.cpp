// SPDX-License-Identifier: Apache-2.0
// Rings and pools when a process is killed. A child does one operation under ptrace and is killed after n instructions,
// for n = 1, 2, 3 ... until the operation ends: after each death the others find every accepted item exactly once and
// nobody hangs. Below the interface: only src/core/queue/shared.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "core/queue/shared/pool.h"
#include "core/queue/shared/ring.h"

using namespace canopy;

namespace {

constexpr Deadline at_once{0};

// The same file in a child needs the child's own lock, as in a process that attached.
void enter(Ring& ring, Ring& mine) {
    if (!mine.adopt(::dup(ring.file().descriptor()), ring.uid(), ring.depth(), ring.creator())) ::_exit(90);
}

Item item_with(std::uint64_t value) {
    Item item;
    item.kind = ItemKind::inside;
    item.length = sizeof value;
    std::memcpy(item.area.data(), &value, sizeof value);
    return item;
}
std::uint64_t value_of(const Item& item) {
    std::uint64_t value = 0;
    std::memcpy(&value, item.area.data(), sizeof value);
    return value;
}
bool put(Ring& ring, std::uint64_t value, Deadline deadline = at_once) {
    std::uint64_t index = 0;
    if (ring.begin_write(deadline, index) != Ring::Outcome::done) return false;
    ring.put(index, item_with(value));
    ring.commit_write(index);
    return true;
}
bool take(Ring& ring, std::uint64_t& value, Deadline deadline = at_once) {
    std::uint64_t index = 0;
    if (ring.begin_read(deadline, index) != Ring::Outcome::done) return false;
    value = value_of(ring.get(index));
    ring.commit_read(index);
    return true;
}
// The same by a thread that keeps its end: `kept` is the word, or 0.
bool put_kept(Ring& ring, std::uint64_t& kept, std::uint64_t value, Deadline deadline = at_once) {
    for (;;) {
        if (kept == 0) kept = ring.keep_writing();
        if (kept == 0) return put(ring, value, deadline);
        const Ring::Kept result = ring.put_kept(kept, &value, sizeof value, nullptr, 0);
        if (result == Ring::Kept::lost || result == Ring::Kept::done_and_lost) {
            ring.give_up_writing(kept);
            kept = 0;
        }
        if (result == Ring::Kept::done || result == Ring::Kept::done_and_lost) return true;
        if (result == Ring::Kept::other) return false;
        if (result == Ring::Kept::wait && ring.await_room(deadline) != Ring::Outcome::done) return false;
    }
}
bool take_kept(Ring& ring, std::uint64_t& kept, std::uint64_t& value, Deadline deadline = at_once) {
    for (;;) {
        if (kept == 0) kept = ring.keep_reading();
        if (kept == 0) return take(ring, value, deadline);
        Item item;
        const Ring::Kept result = ring.take_kept(kept, item, sizeof value);
        if (result == Ring::Kept::lost || result == Ring::Kept::done_and_lost) {
            ring.give_up_reading(kept);
            kept = 0;
        }
        if (result == Ring::Kept::done || result == Ring::Kept::done_and_lost) {
            value = value_of(item);
            return true;
        }
        if (result == Ring::Kept::other) return false;
        if (result == Ring::Kept::wait && ring.await_item(deadline) != Ring::Outcome::done) return false;
    }
}
std::vector<std::uint64_t> rest(Ring& ring) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t value = 0; take(ring, value);) all.push_back(value);
    return all;
}

// Runs `prepare`, then `operation` for at most `steps` instructions. True if the operation ended before that.
template <class Prepare, class Operation>
bool killed_after(long steps, Prepare&& prepare, Operation&& operation) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        prepare();
        ::raise(SIGSTOP);
        operation();
        ::raise(SIGUSR1);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    bool ended = false;
    if (WIFSTOPPED(status)) {
        for (long step = 0; step < steps && !ended; ++step) {
            ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
            ::waitpid(child, &status, 0);
            ended = !WIFSTOPPED(status) || WSTOPSIG(status) == SIGUSR1;
        }
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return ended;
}

// Calls check(n) for every n until the operation ends by itself.
long at_every_step(const std::function<bool(long)>& check) {
    long step = 1;
    for (; !check(step); ++step)
        if (testing::Test::HasFatalFailure() || step > 20000) break;
    return step;
}

TEST(QueueKill, AtEveryStepOfAWrite) {
    const long steps = at_every_step([](long step) {
        Ring ring;
        EXPECT_TRUE(ring.create(1, 4));
        EXPECT_TRUE(put(ring, 10));
        Ring mine;
        const bool ended = killed_after(
            step, [&] { enter(ring, mine); }, [&] { put(mine, 11); });
        EXPECT_TRUE(put(ring, 12));
        const std::vector<std::uint64_t> all = rest(ring);
        const std::vector<std::uint64_t> without{10, 12}, with{10, 11, 12};
        EXPECT_TRUE(all == with || (!ended && all == without)) << "at step " << step;
        return ended;
    });
    EXPECT_GT(steps, 20);
    RecordProperty("steps", static_cast<int>(steps));
}

TEST(QueueKill, AtEveryStepOfARead) {
    const long steps = at_every_step([](long step) {
        Ring ring;
        EXPECT_TRUE(ring.create(1, 4));
        for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(put(ring, i));
        Ring mine;
        std::uint64_t value = 0;
        const bool ended = killed_after(
            step, [&] { enter(ring, mine); }, [&] { take(mine, value); });
        const std::vector<std::uint64_t> all = rest(ring);
        const std::vector<std::uint64_t> before{0, 1, 2, 3}, after{1, 2, 3};
        EXPECT_TRUE(all == after || (!ended && all == before)) << "at step " << step;
        EXPECT_TRUE(put(ring, 9));
        EXPECT_EQ(rest(ring), std::vector<std::uint64_t>{9});
        return ended;
    });
    EXPECT_GT(steps, 20);
}

TEST(QueueKill, AtEveryStepOfAWriteInsideAKeptLock) {
    const long steps = at_every_step([](long step) {
        Ring ring;
        EXPECT_TRUE(ring.create(1, 4));
        Ring mine;
        std::uint64_t kept = 0;
        const bool ended = killed_after(
            step,
            [&] {
                enter(ring, mine);
                kept = mine.keep_writing();
                put_kept(mine, kept, 10);
            },
            [&] { put_kept(mine, kept, 11); });
        EXPECT_TRUE(put(ring, 12));
        const std::vector<std::uint64_t> all = rest(ring);
        const std::vector<std::uint64_t> without{10, 12}, with{10, 11, 12};
        EXPECT_TRUE(all == with || (!ended && all == without)) << "at step " << step;
        return ended;
    });
    EXPECT_GT(steps, 20);
}

// A process that dies between its commit and the tail leaves a full queue whose tail says that there is room: others
// see that it is full, and their waits end.
TEST(QueueKill, AtEveryStepOfAWriteIntoTheLastPlace) {
    const long steps = at_every_step([](long step) {
        Ring ring;
        EXPECT_TRUE(ring.create(1, 2));
        EXPECT_TRUE(put(ring, 10));
        Ring mine;
        std::uint64_t kept = 0;
        const bool ended = killed_after(
            step,
            [&] {
                enter(ring, mine);
                kept = mine.keep_writing();
            },
            [&] { put_kept(mine, kept, 11); });
        EXPECT_EQ(ring.has_room(), ring.count() == 1) << "at step " << step;
        if (ring.count() == 1) EXPECT_TRUE(put(ring, 11));
        std::uint64_t own = 0;
        EXPECT_FALSE(put(ring, 12, Deadline::after(millisecond)));
        EXPECT_FALSE(put_kept(ring, own, 12));
        if (own != 0) ring.give_up_writing(own);
        EXPECT_EQ(rest(ring), (std::vector<std::uint64_t>{10, 11})) << "at step " << step;
        EXPECT_TRUE(put(ring, 13) && put(ring, 14));
        return ended;
    });
    EXPECT_GT(steps, 20);
}

TEST(QueueKill, AtEveryStepOfAReadInsideAKeptLock) {
    const long steps = at_every_step([](long step) {
        Ring ring;
        EXPECT_TRUE(ring.create(1, 4));
        for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(put(ring, i));
        Ring mine;
        std::uint64_t kept = 0, value = 0;
        const bool ended = killed_after(
            step,
            [&] {
                enter(ring, mine);
                kept = mine.keep_reading();
            },
            [&] { take_kept(mine, kept, value); });
        const std::vector<std::uint64_t> all = rest(ring);
        const std::vector<std::uint64_t> before{0, 1, 2, 3}, after{1, 2, 3};
        EXPECT_TRUE(all == after || (!ended && all == before)) << "at step " << step;
        EXPECT_TRUE(put(ring, 9));
        EXPECT_EQ(rest(ring), std::vector<std::uint64_t>{9});
        return ended;
    });
    EXPECT_GT(steps, 20);
}

// The places of keepers that were killed serve others again.
TEST(QueueKill, AtEveryStepOfKeepingALock) {
    Ring ring;
    ASSERT_TRUE(ring.create(1, 4));
    const long steps = at_every_step([&](long step) {
        Ring mine;
        const bool ended = killed_after(
            step, [&] { enter(ring, mine); },
            [&] {
                const std::uint64_t kept = mine.keep_writing();
                if (kept != 0) mine.give_up_writing(kept);
            });
        EXPECT_TRUE(put(ring, 1));
        std::uint64_t kept = may_keep_locks() ? ring.keep_writing() : 1;
        EXPECT_NE(kept, 0u) << "at step " << step;
        if (may_keep_locks()) {
            EXPECT_TRUE(put_kept(ring, kept, 2));
            EXPECT_TRUE(put(ring, 3));  // takes it away
            EXPECT_TRUE(put_kept(ring, kept, 4));
            ring.give_up_writing(kept);
            EXPECT_EQ(rest(ring), (std::vector<std::uint64_t>{1, 2, 3, 4}));
        }
        return ended;
    });
    EXPECT_GT(steps, 20);
}

TEST(QueueKill, AtEveryStepOfADelivery) {
    const long steps = at_every_step([](long step) {
        Ring target;
        EXPECT_TRUE(target.create(2, 4));
        EXPECT_TRUE(target.accept_source(1, 0));
        Ring mine;
        const bool ended = killed_after(
            step, [&] { enter(target, mine); }, [&] { mine.deliver(1, 0, item_with(5), [](std::uint64_t) {}); });
        // Somebody else uses the target before another helper repeats the delivery.
        EXPECT_TRUE(put(target, 6));
        const Ring::Outcome again = target.deliver(1, 0, item_with(5), [](std::uint64_t) {});
        EXPECT_TRUE(again == Ring::Outcome::done || again == Ring::Outcome::stopped);
        EXPECT_TRUE(target.delivered(1, 0));
        const std::vector<std::uint64_t> all = rest(target);
        EXPECT_EQ(all.size(), 2u) << "at step " << step;
        EXPECT_EQ(std::count(all.begin(), all.end(), 5u), 1) << "at step " << step;
        return ended;
    });
    EXPECT_GT(steps, 40);
}

// A buffer on its way into a ring and out of it: afterwards it is in the ring, or free.
struct World {
    Ring ring;
    BufferPool pool;
    std::uint32_t header = 0;
    World() {
        EXPECT_TRUE(ring.create(7, 4));
        EXPECT_TRUE(pool.create(9));
        header = *pool.allocate(100);
    }
    Item item() const {
        Item made;
        made.kind = ItemKind::buffer;
        made.pool = 9;
        made.header = header;
        made.generation = pool.owner(header).generation;
        return made;
    }
    static void put(Ring& ring, BufferPool& pool, std::uint32_t header, const Item& item) {
        const BufferOwner owner = pool.owner(header);
        const BufferOwner moving{owner.generation, BufferState::moving, owner.process};
        if (!pool.change(header, owner, moving)) return;
        std::uint64_t index = 0;
        if (ring.begin_write(at_once, index) != Ring::Outcome::done) return;
        pool.set_place(header, {ring.uid(), index});
        ring.put(index, item);
        ring.commit_write(index);
        pool.change(header, moving, {owner.generation, BufferState::queued, 0});
    }
    static void take(Ring& ring, BufferPool& pool) {
        std::uint64_t index = 0;
        if (ring.begin_read(at_once, index) != Ring::Outcome::done) return;
        const Item item = ring.get(index);
        const BufferOwner now = pool.owner(item.header);
        const BufferOwner mine{now.generation, BufferState::owned, own_process_number()};
        pool.change(item.header, now, mine);
        ring.commit_read(index);
        pool.give_back(item.header, mine);
    }
    void sweep() {
        pool.sweep([&](std::uint32_t each, BufferOwner owner) {
            using Fate = BufferPool::Fate;
            if (owner.state != BufferState::queued && pool.file().alive(owner.process)) return Fate::keep;
            const BufferPool::Place place = pool.place(each);
            if (place.of == 0) return Fate::free;
            if (!ring.holds(place.index, 9, each, owner.generation)) return Fate::free;
            return owner.state == BufferState::queued ? Fate::keep : Fate::to_queue;
        });
        pool.collect();
    }
    void enter_both(Ring& mine, BufferPool& my_pool) {
        enter(ring, mine);
        if (!my_pool.adopt(::dup(pool.file().descriptor()), 9)) ::_exit(91);
    }
};

TEST(QueueKill, AtEveryStepOfPuttingABuffer) {
    const long steps = at_every_step([](long step) {
        World world;
        const Item item = world.item();
        Ring mine;
        BufferPool pool;
        const bool ended = killed_after(
            step,
            [&] {
                world.enter_both(mine, pool);
                // The child is its owner, as if it had received it.
                BufferOwner owner = pool.owner(world.header);
                pool.change(world.header, owner, {owner.generation, BufferState::owned, own_process_number()});
            },
            [&] { World::put(mine, pool, world.header, item); });
        world.sweep();
        const BufferState state = world.pool.owner(world.header).state;
        if (world.ring.count() == 1)
            EXPECT_EQ(state, BufferState::queued) << "at step " << step;
        else
            EXPECT_EQ(state, BufferState::free) << "at step " << step;
        EXPECT_TRUE(!ended || world.ring.count() == 1);
        World::take(world.ring, world.pool);
        EXPECT_EQ(world.pool.bytes_in_use(), 0u) << "at step " << step;
        return ended;
    });
    EXPECT_GT(steps, 40);
}

TEST(QueueKill, AtEveryStepOfTakingABuffer) {
    const long steps = at_every_step([](long step) {
        World world;
        World::put(world.ring, world.pool, world.header, world.item());
        Ring mine;
        BufferPool pool;
        const bool ended = killed_after(
            step, [&] { world.enter_both(mine, pool); }, [&] { World::take(mine, pool); });
        world.sweep();
        const BufferState state = world.pool.owner(world.header).state;
        if (world.ring.count() == 1)
            EXPECT_EQ(state, BufferState::queued) << "at step " << step;
        else
            EXPECT_EQ(state, BufferState::free) << "at step " << step;
        World::take(world.ring, world.pool);
        EXPECT_EQ(world.pool.bytes_in_use(), 0u) << "at step " << step;
        return ended;
    });
    EXPECT_GT(steps, 40);
}

// Children write and read as fast as they can, half of them inside a lock that they keep, and are killed at random
// moments. The numbers that arrive rise without a gap, and the child's own count, in shared memory, never runs ahead of
// them.
TEST(QueueKill, AtRandomMoments) {
    Ring ring;
    ASSERT_TRUE(ring.create(1, 8));
    SharedMemoryFile page;
    ASSERT_TRUE(page.create("counts", 4096));
    auto& accepted = *reinterpret_cast<std::atomic<std::uint64_t>*>(page.base());
    std::mt19937 random(42);
    std::uint64_t expected = 0;
    for (int round = 0; round < 1000; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            Ring mine;
            enter(ring, mine);
            std::uint64_t kept = 0;
            for (std::uint64_t next = expected;; ++next) {
                const Deadline late = Deadline::after(20 * second);
                if (!(round % 2 != 0 ? put_kept(mine, kept, next, late) : put(mine, next, late))) ::_exit(1);
                accepted.store(next + 1);
            }
        }
        const std::uint64_t wanted = expected + 1 + random() % 40;
        std::uint64_t value = 0;
        while (expected < wanted) {
            ASSERT_TRUE(take(ring, value, Deadline::after(20 * second)));
            ASSERT_EQ(value, expected);
            ++expected;
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (take(ring, value)) {
            ASSERT_EQ(value, expected);
            ++expected;
        }
        ASSERT_GE(expected, accepted.load());
    }
}

TEST(QueueKill, ReadersAtRandomMoments) {
    Ring ring;
    ASSERT_TRUE(ring.create(1, 8));
    SharedMemoryFile page;
    ASSERT_TRUE(page.create("counts", 4096));
    auto& taken = *reinterpret_cast<std::atomic<std::uint64_t>*>(page.base());  // one more than the last number seen
    std::mt19937 random(43);
    std::uint64_t next = 0;
    for (int round = 0; round < 1000; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            Ring mine;
            enter(ring, mine);
            std::uint64_t value = 0, kept = 0;
            const auto take_one = [&] {
                const Deadline late = Deadline::after(20 * second);
                return round % 2 != 0 ? take_kept(mine, kept, value, late) : take(mine, value, late);
            };
            while (take_one()) {
                // At most the one item that the reader before had when it was killed is not seen here.
                if (value != taken.load() && value != taken.load() + 1) ::_exit(1);
                taken.store(value + 1);
            }
            ::_exit(2);
        }
        for (std::uint64_t count = 1 + random() % 40; count > 0; --count)
            ASSERT_TRUE(put(ring, next++, Deadline::after(20 * second)));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_FALSE(WIFEXITED(status)) << "round " << round << ": a number was lost or came twice";
        std::uint64_t value = 0, expected = taken.load();
        while (take(ring, value)) {
            ASSERT_TRUE(value == expected || value == expected + 1) << value << " after " << expected;
            expected = value + 1;
        }
        ASSERT_LE(next - expected, 1u);
        taken.store(next);
    }
}

// A process that was stopped inside a lock delays others as long as they wait for items, and their calls give the code
// of a time-out; nothing hangs, and it goes on where it was.
TEST(QueueKill, AStoppedProcessHoldsUpNobodyForEver) {
    Ring ring;
    ASSERT_TRUE(ring.create(1, 4));
    ASSERT_TRUE(put(ring, 1));
    const pid_t child = ::fork();
    if (child == 0) {
        Ring mine;
        enter(ring, mine);
        std::uint64_t written = 0, read = 0;
        if (mine.begin_write(at_once, written) != Ring::Outcome::done) ::_exit(1);
        if (mine.begin_read(at_once, read) != Ring::Outcome::done) ::_exit(2);
        ::raise(SIGSTOP);
        mine.put(written, item_with(2));
        mine.commit_write(written);
        mine.commit_read(read);
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status));
    std::uint64_t value = 0, index = 0;
    EXPECT_FALSE(put(ring, 3));
    EXPECT_FALSE(take(ring, value));
    EXPECT_EQ(ring.begin_write(Deadline::after(10 * millisecond), index), Ring::Outcome::timed_out);
    EXPECT_EQ(ring.keep_writing(), 0u);
    // Who waits for ever is told when the queue is stopped or closed.
    std::thread writer([&] { EXPECT_EQ(ring.begin_write(Deadline::never(), index), Ring::Outcome::closed); });
    std::uint64_t other = 0;
    std::thread reader([&] { EXPECT_EQ(ring.begin_read(Deadline::never(), other), Ring::Outcome::closed); });
    ring.close();
    writer.join();
    reader.join();
    ::kill(child, SIGCONT);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Another process writes over the files while this one uses them: anything may come out, but nothing crashes or hangs.
TEST(QueueKill, ScribblesDoNoHarm) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 3000; ++round) {
        World world;
        std::uint64_t writing = 0, reading = 0;
        for (int i = 0; i < 20; ++i) {
            std::byte* const base = random() % 2 ? world.ring.file().base() : world.pool.file().base();
            const std::size_t reach = base == world.ring.file().base() ? world.ring.file().size() : 80000;
            std::uint64_t value = random() % 3 == 0 ? random() : random() % 300;
            std::size_t at = random() % (reach / 8);
            if (random() % 2) at = random() % 128;  // the lines that matter most
            std::memcpy(base + at * 8, &value, sizeof value);
            std::uint64_t out = 0;
            put(world.ring, 1);
            take(world.ring, out);
            put_kept(world.ring, writing, 2);
            take_kept(world.ring, reading, out);
            (void)world.ring.count();
            (void)world.pool.view(static_cast<std::uint32_t>(random()) % BufferPool::headers);
            if (const auto header = world.pool.allocate(1 + random() % 10000)) {
                world.pool.reference(*header);
                world.pool.give_back(*header, world.pool.owner(*header));
            }
            world.ring.deliver(random() % 3, random() % 5, item_with(1), [](std::uint64_t) {});
            world.sweep();
        }
    }
}

}  // namespace
