// SPDX-License-Identifier: Apache-2.0
// The command ring between one submitter and one owner.
#include "device/engine/stream/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

#include "until.h"

namespace canopy {
namespace {

void put(CommandRing& ring, std::uint32_t task, std::size_t lines) {
    Command* place = ring.reserve(lines);
    ASSERT_NE(place, nullptr);
    *place = Command(Opcode::launch);
    place->task = task;
    place->payload_lines = static_cast<std::uint16_t>(lines);
    std::memset(static_cast<void*>(place + 1), static_cast<int>(task & 0xFF), lines * CommandRing::line);
    ring.publish(1);
}

// Takes the next command and checks its payload; false if there is none.
bool take(CommandRing& ring, std::uint32_t expected) {
    Command* command = ring.front();
    if (!command) return false;
    EXPECT_EQ(command->task, expected);
    const auto* bytes = reinterpret_cast<const unsigned char*>(command + 1);
    const std::size_t size = command->payload_lines * CommandRing::line;
    if (size != 0) {
        EXPECT_EQ(bytes[0], expected & 0xFF);
        EXPECT_EQ(bytes[size - 1], expected & 0xFF);
    }
    ring.pop(*command);
    return true;
}

class Ring : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(ring_->create()); }
    std::unique_ptr<CommandRing> ring_ = std::make_unique<CommandRing>();
};

TEST_F(Ring, IsEmptyAtFirst) {
    EXPECT_EQ(ring_->front(), nullptr);
    EXPECT_TRUE(ring_->empty());
    EXPECT_EQ(ring_->tail(), 0u);
}

TEST_F(Ring, GivesCommandsBackInOrder) {
    for (std::uint32_t i = 0; i < 10; ++i) put(*ring_, i, i % 3);
    EXPECT_EQ(ring_->tail(), 10u);
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(take(*ring_, i));
    EXPECT_EQ(ring_->front(), nullptr);
    EXPECT_EQ(ring_->popped(), 10u);
}

TEST_F(Ring, ShowsNothingBeforeItIsPublished) {
    Command* place = ring_->reserve(0);
    *place = Command(Opcode::fill);
    EXPECT_EQ(ring_->front(), nullptr);
    ring_->publish(1);
    ASSERT_NE(ring_->front(), nullptr);
    EXPECT_EQ(ring_->front()->opcode, Opcode::fill);
}

TEST_F(Ring, GrowsWhileNobodyDrains) {
    constexpr std::uint32_t count = 100000;
    for (std::uint32_t i = 0; i < count; ++i) put(*ring_, i, i % 5);
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_TRUE(take(*ring_, i));
    EXPECT_EQ(ring_->front(), nullptr);
}

TEST_F(Ring, TakesPayloadsUpToTheLimit) {
    constexpr std::size_t most = tuning::ring_payload_limit / CommandRing::line;
    for (std::uint32_t i = 0; i < 2000; ++i) put(*ring_, i, i % 7 == 0 ? most : i % (most + 1));
    for (std::uint32_t i = 0; i < 2000; ++i) ASSERT_TRUE(take(*ring_, i));
}

TEST_F(Ring, SkipsNoLinesOfCommandsWithMemoryOfTheirOwn) {
    Command* place = ring_->reserve(0);
    *place = Command(Opcode::copy);
    place->payload_lines = CommandRing::heap_payload;
    ring_->publish(1);
    put(*ring_, 5, 1);
    Command* first = ring_->front();
    EXPECT_EQ(first->payload_lines, CommandRing::heap_payload);
    ring_->pop(*first);
    EXPECT_TRUE(take(*ring_, 5));
}

TEST_F(Ring, UsesDrainedSegmentsAgain) {
    // Hundreds of segments' worth passes through, alternating so that every segment is drained before the next fills.
    std::uint32_t next = 0;
    for (std::uint32_t round = 0; round < 2000; ++round) {
        for (std::uint32_t i = 0; i < 100; ++i) put(*ring_, round * 100 + i, 1);
        for (std::uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(take(*ring_, next++));
    }
}

TEST_F(Ring, PassesEverythingFromOneThreadToAnother) {
    constexpr std::uint32_t count = 200000;
    std::thread submitter([&] {
        for (std::uint32_t i = 0; i < count; ++i) put(*ring_, i, i % 11);
    });
    bool all = true;
    for (std::uint32_t i = 0; all && i < count; ++i) all = eventually([&] { return take(*ring_, i); });
    EXPECT_TRUE(all);
    submitter.join();
    EXPECT_TRUE(ring_->empty());
}

}  // namespace
}  // namespace canopy
