// SPDX-License-Identifier: Apache-2.0
// The gate that snapshots close.
#include "core/base/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/error_codes.h"
#include "until.h"

namespace canopy {
namespace {

Deadline soon() { return Deadline::after(2 * millisecond); }
Deadline late() { return Deadline::after(60 * second); }

TEST(Gate, GivesUpWhenSomebodyStaysInside) {
    std::atomic<bool> inside{false}, leave{false};
    std::thread other([&] {
        const GatePass outer, inner;
        inside = true;
        EXPECT_TRUE(eventually([&] { return leave.load(); }));
    });
    ASSERT_TRUE(eventually([&] { return inside.load(); }));
    EXPECT_EQ(close_gate(soon()).code(), code::snapshot_lock_timeout);
    EXPECT_FALSE(gate_closed());
    { const GatePass pass; }  // it is open again
    leave = true;
    EXPECT_TRUE(close_gate(late()).ok());
    EXPECT_TRUE(gate_closed());
    open_gate();
    other.join();
}

TEST(Gate, CannotBeClosedFromInside) {
    const GatePass pass;
    EXPECT_EQ(close_gate(late()).code(), code::snapshot_lock);
    EXPECT_FALSE(gate_closed());
}

TEST(Gate, ThreadsThatAreExemptPass) {
    ASSERT_TRUE(close_gate(late()).ok());
    thread_state.ignores_gate = true;
    { const GatePass outer, inner; }
    thread_state.ignores_gate = false;
    open_gate();
}

// A thread that has ended is not waited for, whether it had passes or not.
TEST(Gate, ForgetsThreadsThatHaveEnded) {
    for (int i = 0; i < 8; ++i) std::thread([] { const GatePass pass; }).join();
    EXPECT_TRUE(close_gate(late()).ok());
    open_gate();
}

// Threads pass all the time while the gate is closed and opened: nobody is inside while it is closed, and nobody is
// left in front of it.
TEST(Gate, NobodyIsInsideWhileItIsClosed) {
    constexpr int threads = 4, rounds = 300;
    std::atomic<int> inside{0};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> passed{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                const GatePass pass;
                inside.fetch_add(1, std::memory_order_relaxed);
                passed.fetch_add(1, std::memory_order_relaxed);
                inside.fetch_sub(1, std::memory_order_relaxed);
            }
        });
    for (int round = 0; round < rounds; ++round) {
        ASSERT_TRUE(close_gate(late()).ok());
        ASSERT_EQ(inside.load(), 0);
        const std::uint64_t before = passed.load();
        for (int look = 0; look < 20; ++look) ASSERT_EQ(passed.load(), before);
        open_gate();
    }
    const std::uint64_t before = passed.load();
    EXPECT_TRUE(eventually([&] { return passed.load() > before; }));
    stop = true;
    for (std::thread& thread : all) thread.join();
}

}  // namespace
}  // namespace canopy
