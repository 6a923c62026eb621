// SPDX-License-Identifier: Apache-2.0
// Streams that a thread takes over from its own signals, and the graph lanes that it keeps for itself.
#include "device/engine/stream/hand_over.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/engine/stream/kept_runnables.h"
#include "device/engine/stream/runnable.h"
#include "device/execution/tuning.h"

namespace canopy {
namespace {

class Nothing final : public Runnable {
public:
    Nothing() noexcept : Runnable(0) {}
    void cancel(std::uint64_t, FaultKind) noexcept override {}
    void continue_after_launch() noexcept override {}
    void drain(Worker&) noexcept override {}
    void drain_part(Worker&, bool) noexcept override {}
    void drain_after_launch(Worker&) noexcept override {}
    void begin_wait() noexcept override {}
    void continue_after_wait(WaitResult) noexcept override {}
    bool expire_wait(std::uint64_t) noexcept override { return true; }
};

TEST(HandOver, TakesOneStreamWhileItCollects) {
    HandOver hand_over;
    Nothing released;
    EXPECT_FALSE(hand_over.accepts());
    {
        const HandOver::Collecting collecting(hand_over);
        EXPECT_TRUE(hand_over.accepts());
        hand_over.put(released);
        EXPECT_FALSE(hand_over.accepts()) << "the others go to the scheduler";
    }
    EXPECT_FALSE(hand_over.empty());
    EXPECT_EQ(hand_over.take(), &released);
    EXPECT_TRUE(hand_over.empty());
    EXPECT_EQ(hand_over.take(), nullptr);
    EXPECT_FALSE(hand_over.accepts());
}

TEST(HandOver, AddsUpChangesWhileItsThreadDrains) {
    HandOver hand_over;
    EXPECT_FALSE(hand_over.count_runnable(1)) << "the scheduler must be told";
    hand_over.begin_draining();
    EXPECT_TRUE(hand_over.count_runnable(-1));
    EXPECT_TRUE(hand_over.count_runnable(1));
    EXPECT_EQ(hand_over.take_change(), 0);
    EXPECT_TRUE(hand_over.count_runnable(-1));
    hand_over.end_draining();
    EXPECT_EQ(hand_over.take_change(), -1);
    EXPECT_EQ(hand_over.take_change(), 0);
}

class Kept : public testing::Test {
protected:
    void SetUp() override {
        for (Nothing& one : all_) kept_.push(one, &one < &all_[4] ? long_ : 0, &one < &all_[2] ? &first_ : &second_);
    }
    static constexpr Nanoseconds long_ = 2 * tuning::time_worth_sharing;
    int first_ = 0, second_ = 0;  // groups
    Nothing all_[6];              // four long ones, two short ones
    KeptRunnables kept_;
};

TEST_F(Kept, TheLastOneComesFirst) {
    EXPECT_EQ(kept_.time(), 4 * long_) << "short ones do not count";
    EXPECT_EQ(kept_.take(&first_), &all_[1]);
    EXPECT_EQ(kept_.take(nullptr), &all_[5]);
    EXPECT_EQ(kept_.take(nullptr), &all_[4]);
    EXPECT_EQ(kept_.take(&first_), &all_[0]);
    EXPECT_EQ(kept_.take(&first_), nullptr);
    EXPECT_EQ(kept_.time(), 2 * long_);
    EXPECT_EQ(kept_.take(&second_), &all_[3]);
    EXPECT_EQ(kept_.take(&second_), &all_[2]);
    EXPECT_TRUE(kept_.empty());
    EXPECT_EQ(kept_.time(), 0);
}

TEST_F(Kept, HalfOfTheLongOnesCanBeTakenByAnother) {
    KeptRunnables other;
    other.push_all(kept_.take_half());
    EXPECT_EQ(other.time(), 2 * long_);
    EXPECT_EQ(kept_.time(), 2 * long_);
    std::vector<const Runnable*> taken;
    while (const Runnable* one = other.take(nullptr)) taken.push_back(one);
    EXPECT_EQ(taken, (std::vector<const Runnable*>{&all_[1], &all_[0]})) << "those its thread would come to last";
    EXPECT_EQ(kept_.take(nullptr), &all_[5]);
}

TEST_F(Kept, AllCanBeTakenAtOnce) {
    int count = 0;
    for (const Runnable* one = kept_.take_all(); one; one = one->kept.next) ++count;
    EXPECT_EQ(count, 6);
    EXPECT_TRUE(kept_.empty());
    EXPECT_EQ(kept_.time(), 0);
    EXPECT_EQ(kept_.take_half(), nullptr);
}

}  // namespace
}  // namespace canopy
