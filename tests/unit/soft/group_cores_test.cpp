// SPDX-License-Identifier: Apache-2.0
// The cores of a group, without running any blocks: who owns a core that others have reached. And the memory of blocks.
#include "device/soft/launch/group_cores.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

class GroupCoresTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(table_.begin({1, 2}, 2));
        for (auto& core : own_) core = SoftCore::create(3510);
    }
    SoftCore* open(std::uint32_t number) {
        std::unique_ptr<SoftCore> replaced;
        table_.open(number, own_[number], replaced);
        if (replaced) spare_.push_back(std::move(replaced));
        return own_[number].get();
    }
    SoftCore* reach(std::uint32_t number) {
        std::unique_ptr<SoftCore> fresh;
        if (SoftCore* core = table_.reach(number, fresh)) return core;
        fresh = SoftCore::create(3510);
        return table_.reach(number, fresh);
    }
    void leave(std::uint32_t number) { table_.leave(number, own_[number], spare_); }

    GroupCores table_;
    std::unique_ptr<SoftCore> own_[6];
    SpareCores spare_;
};

TEST_F(GroupCoresTest, ACoreThatNobodyReachesStaysWithItsBlock) {
    SoftCore* const core = open(1);
    leave(1);
    EXPECT_EQ(own_[1].get(), core);
    leave(0), leave(2);
    EXPECT_TRUE(spare_.empty());
}

TEST_F(GroupCoresTest, ARunningCoreIsReachedWhereItIs) {
    SoftCore* const core = open(4);
    EXPECT_EQ(reach(4), core);
    leave(4);
    EXPECT_EQ(own_[4], nullptr) << "others may still write into it";
    EXPECT_EQ(reach(4), core);
    leave(3);
    EXPECT_TRUE(spare_.empty());
    leave(5);
    ASSERT_EQ(spare_.size(), 1u);
    EXPECT_EQ(spare_[0].get(), core);
}

TEST_F(GroupCoresTest, ABlockGetsTheCoreThatWasReachedBeforeItBegan) {
    SoftCore* const early = reach(2);
    ASSERT_NE(early, nullptr);
    EXPECT_EQ(reach(2), early);
    SoftCore* const before = own_[2].get();
    EXPECT_EQ(open(2), early);
    ASSERT_EQ(spare_.size(), 1u);
    EXPECT_EQ(spare_[0].get(), before);
    EXPECT_EQ(open(2), early) << "a second time";
}

TEST_F(GroupCoresTest, TheLastBlockOfAGroupKeepsItsCore) {
    SoftCore* const core = open(0);
    reach(0);
    leave(1), leave(2), leave(0);
    EXPECT_EQ(own_[0].get(), core);
}

TEST_F(GroupCoresTest, TheEndHandsOverWhatIsLeft) {
    reach(0), reach(5);
    table_.end(spare_);
    EXPECT_EQ(spare_.size(), 2u);
    EXPECT_FALSE(table_.in_use());
}

TEST(BlockMemory, BelongsToKeyAndBlock) {
    const auto core = SoftCore::create(3510);
    const int first = 0, second = 0, initial = 42;
    core->open();
    auto* number = static_cast<int*>(core->block_memory(&first, sizeof(int), alignof(int), &initial));
    auto* bytes = static_cast<char*>(core->block_memory(&second, 100, 4096, nullptr));
    EXPECT_EQ(*number, 42);
    EXPECT_EQ(bytes[99], 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 4096, 0u);
    *number = 1, bytes[99] = 2;
    EXPECT_EQ(core->block_memory(&first, sizeof(int), alignof(int), &initial), number);
    bytes = static_cast<char*>(core->block_memory(&second, 10000, 4096, nullptr));
    EXPECT_EQ(bytes[99], 2) << "it grows and keeps its contents";
    core->open();  // the next block
    EXPECT_EQ(*static_cast<int*>(core->block_memory(&first, sizeof(int), alignof(int), &initial)), 42);
    EXPECT_EQ(static_cast<char*>(core->block_memory(&second, 10000, 4096, nullptr))[99], 0);
}

}  // namespace
}  // namespace canopy
