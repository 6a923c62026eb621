// SPDX-License-Identifier: Apache-2.0
// Fibers: entered, suspended half-way, resumed on another thread, abandoned.
#include "base/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace canopy {
namespace {

constexpr std::size_t stack = 128 * 1024;

struct Steps {
    Fiber* fiber = nullptr;
    int before = 0, after = 0;
};

TEST(Fiber, RunsABodyToItsEndAndTheNextOneToo) {
    Fiber fiber(stack);
    ASSERT_TRUE(fiber.valid());
    int calls = 0;
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(fiber.start([](void* count) { ++*static_cast<int*>(count); }, &calls), Fiber::Exit::finished);
    EXPECT_EQ(calls, 1000);
}

void suspend_in_the_middle(void* data) {
    auto* steps = static_cast<Steps*>(data);
    ++steps->before;
    steps->fiber->suspend();
    ++steps->after;
}

TEST(Fiber, GoesOnWhereItSuspended) {
    Fiber fiber(stack);
    Steps steps{&fiber};
    EXPECT_EQ(fiber.start(&suspend_in_the_middle, &steps), Fiber::Exit::suspended);
    EXPECT_EQ(steps.before, 1);
    EXPECT_EQ(steps.after, 0);
    EXPECT_EQ(fiber.resume(), Fiber::Exit::finished);
    EXPECT_EQ(steps.after, 1);
    EXPECT_EQ(fiber.start(&suspend_in_the_middle, &steps), Fiber::Exit::suspended);
    EXPECT_EQ(fiber.resume(), Fiber::Exit::finished);
}

TEST(Fiber, IsResumedByAnotherThread) {
    Fiber fiber(stack);
    Steps steps{&fiber};
    EXPECT_EQ(fiber.start(&suspend_in_the_middle, &steps), Fiber::Exit::suspended);
    std::thread([&] { EXPECT_EQ(fiber.resume(), Fiber::Exit::finished); }).join();
    EXPECT_EQ(steps.after, 1);
    EXPECT_EQ(fiber.start([](void*) {}, nullptr), Fiber::Exit::finished);
}

TEST(Fiber, StartsCleanAfterItWasAbandoned) {
    Fiber fiber(stack);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(fiber.start([](void* data) { static_cast<Fiber*>(data)->abandon(); }, &fiber),
                  Fiber::Exit::abandoned);
        int calls = 0;
        EXPECT_EQ(fiber.start([](void* count) { ++*static_cast<int*>(count); }, &calls), Fiber::Exit::finished);
        EXPECT_EQ(calls, 1);
    }
}

TEST(Fiber, StartsCleanAfterASuspensionWasDiscarded) {
    Fiber fiber(stack);
    Steps steps{&fiber};
    EXPECT_EQ(fiber.start(&suspend_in_the_middle, &steps), Fiber::Exit::suspended);
    fiber.discard();
    EXPECT_EQ(fiber.start([](void*) {}, nullptr), Fiber::Exit::finished);
    EXPECT_EQ(steps.after, 0);
}

TEST(Fiber, KnowsItsStack) {
    Fiber fiber(stack);
    struct Look {
        Fiber* fiber;
        bool inside;
    } look{&fiber, false};
    fiber.start(
        [](void* data) {
            auto* target = static_cast<Look*>(data);
            volatile char here = 0;
            target->inside = target->fiber->on_stack(reinterpret_cast<std::uintptr_t>(&here));
        },
        &look);
#if !defined(__SANITIZE_ADDRESS__)  // which may keep locals elsewhere
    EXPECT_TRUE(look.inside);
#endif
    int outside = 0;
    EXPECT_FALSE(fiber.on_stack(reinterpret_cast<std::uintptr_t>(&outside)));
}

// Many fibers take turns: each adds once per round and suspends.
TEST(Fiber, ManyTakeTurns) {
    constexpr int count = 48, rounds = 200;
    struct Turn {
        std::unique_ptr<Fiber> fiber;
        int* total;
    };
    int total = 0;
    std::vector<Turn> turns(count);
    for (Turn& turn : turns) {
        turn = {std::make_unique<Fiber>(stack), &total};
        EXPECT_EQ(turn.fiber->start(
                      [](void* data) {
                          auto* self = static_cast<Turn*>(data);
                          for (int round = 0; round < rounds; ++round) {
                              ++*self->total;
                              self->fiber->suspend();
                          }
                      },
                      &turn),
                  Fiber::Exit::suspended);
    }
    for (int round = 1; round < rounds; ++round)
        for (Turn& turn : turns) EXPECT_EQ(turn.fiber->resume(), Fiber::Exit::suspended);
    for (Turn& turn : turns) EXPECT_EQ(turn.fiber->resume(), Fiber::Exit::finished);
    EXPECT_EQ(total, count * rounds);
}

}  // namespace
}  // namespace canopy
