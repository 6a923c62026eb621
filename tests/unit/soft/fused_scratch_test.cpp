// SPDX-License-Identifier: Apache-2.0
// Scratches of fused kernels: the temporaries of a block are in memory of the thread that runs it.
#include <algorithm>

#include "base/error_text.h"
#include "soft/fused_plan.h"

namespace canopy::test {
namespace {

constexpr std::uint32_t per_block = 256, blocks = 200;  // per_block counts numbers

struct Arguments {
    const std::uint64_t* from;
    std::uint64_t* to;
    std::uint64_t added;
};

// Adds to the block's share of the numbers. The share has the same place in every array.
void add_numbers(const void* data) {
    const auto& arguments = *static_cast<const Arguments*>(data);
    const std::uint64_t first = std::uint64_t{this_block().index} * per_block;
    for (std::uint64_t i = first; i < first + per_block; ++i) arguments.to[i] = arguments.from[i] + arguments.added;
}

class FusedScratchTest : public FusedTest {
protected:
    void SetUp() override {
        FusedTest::SetUp();
        for (std::uint64_t i = 0; i < input_.size(); ++i) input_[i] = i * 3;
    }
    // input -> temporary -> temporary -> output, all in one part, with the temporary in a scratch.
    void make_chain() {
        plan_.step(kernel_, blocks, {word_of(input_.data()), word_of(temporary_.data()), 1}).arguments_size = 24;
        plan_.step(kernel_, blocks, {word_of(temporary_.data()), word_of(temporary_.data()), 10}).arguments_size = 24;
        plan_.step(kernel_, blocks, {word_of(temporary_.data()), word_of(output_.data()), 100}).arguments_size = 24;
        plan_.part();
        scratch().slots = {1, 3, 4, 6};
        scratch().stride = scratch().size = per_block * sizeof(std::uint64_t);
    }
    FusedScratch& scratch() {
        auto& scratches = plan_.plan().parts[0].scratches;
        if (scratches.empty()) scratches.emplace_back();
        return scratches[0];
    }
    void expect_refused(const char* text) {
        EXPECT_FALSE(plan_.try_to_fuse(*device_).ok());
        const char* reason = take_error_text();
        ASSERT_NE(reason, nullptr);
        EXPECT_NE(std::string(reason).find(text), std::string::npos) << reason;
    }

    TestKernel kernel_{"add_numbers", &add_numbers};
    TestPlan plan_;
    std::vector<std::uint64_t> input_ = std::vector<std::uint64_t>(per_block * blocks);
    std::vector<std::uint64_t> temporary_ = std::vector<std::uint64_t>(per_block * blocks, 7);
    std::vector<std::uint64_t> output_ = std::vector<std::uint64_t>(per_block * blocks);
};

TEST_P(FusedScratchTest, BlocksFindWhatTheyLeftAndTheTemporaryStaysAsItWas) {
    make_chain();
    const std::unique_ptr<FusedKernel> kernel = plan_.fuse(*device_);
    ASSERT_TRUE(kernel);
    std::vector<std::uint64_t> expected = input_;
    for (std::uint64_t& each : expected) each += 111;
    // Once launches prove to be short, one thread runs them in the temporary itself.
    std::fill(output_.begin(), output_.end(), 0);
    queue().finish(queue().submit(plan_.launch(*kernel)));
    EXPECT_EQ(output_, expected);
    EXPECT_EQ(temporary_, std::vector<std::uint64_t>(temporary_.size(), 7));
    for (int round = 0; round < 50; ++round) {
        std::fill(output_.begin(), output_.end(), 0);
        queue().finish(queue().submit(plan_.launch(*kernel)));
        ASSERT_EQ(output_, expected);
    }
}

TEST_P(FusedScratchTest, AddressesInTheMiddleOfTheTemporaryMoveWithIt) {
    // The range of block 0 begins before the address in the first slot.
    plan_.step(kernel_, blocks, {word_of(input_.data()), word_of(temporary_.data()), 1}).arguments_size = 24;
    plan_.step(kernel_, blocks, {word_of(temporary_.data()), word_of(output_.data()), 10}).arguments_size = 24;
    plan_.part();
    scratch().slots = {3, 1};
    scratch().begin = static_cast<std::uint64_t>(-std::int64_t{64});
    scratch().stride = per_block * sizeof(std::uint64_t);
    scratch().size = per_block * sizeof(std::uint64_t) + 64;
    run(plan_);
    for (std::size_t i = 0; i < output_.size(); ++i) ASSERT_EQ(output_[i], input_[i] + 11) << i;
    EXPECT_EQ(temporary_, std::vector<std::uint64_t>(temporary_.size(), 7));
}

TEST_P(FusedScratchTest, PlansThatMakeNoSenseAreRefused) {
    make_chain();
    const FusedScratch sound = scratch();
    scratch().slots = {};
    expect_refused("nothing points to");
    scratch() = sound;
    scratch().slots = {9};
    expect_refused("outside");
    scratch() = sound;
    scratch().size = 1u << 30;
    expect_refused("a scratch of 1073741824 bytes");
    scratch() = sound;
    plan_.plan().parts[0].scratches.resize(200, sound);
    expect_refused("bytes of scratch");
    plan_.plan().parts[0].scratches.resize(1);
    plan_.plan().steps[1].arguments_size = 0;
    expect_refused("belongs to no step");
}

INSTANTIATE_TEST_SUITE_P(Workers, FusedScratchTest, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy::test
