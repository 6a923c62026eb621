// SPDX-License-Identifier: Apache-2.0
// The generator behind random-number tasks, checked against the published results of Philox4x32-10.
#include <gtest/gtest.h>

#include <vector>

#include "builtin/arguments.h"
#include "builtin/philox.h"

namespace canopy {
namespace {

std::vector<std::uint32_t> words(std::uint64_t key, PhiloxCounter counter) {
    const PhiloxBlock block = philox(key, counter);
    return {block.word, block.word + 4};
}

TEST(Philox, GivesTheKnownBlocks) {
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    EXPECT_EQ(words(0, {0, 0}), (std::vector<std::uint32_t>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
    EXPECT_EQ(words(ones, {ones, ones}),
              (std::vector<std::uint32_t>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(Philox, TheCounterCarries) {
    const PhiloxCounter sum = PhiloxCounter{~std::uint64_t{0}, 4} + 3;
    EXPECT_EQ(sum.low, 2u);
    EXPECT_EQ(sum.high, 5u);
    EXPECT_EQ((PhiloxCounter{7, 4} + 3).high, 4u);
}

TEST(RandomTask, ResultSizeCountsBitsOfMasksAndElementsOtherwise) {
    RandomTask task;
    task.type = RandomType::float16;
    EXPECT_EQ(result_size(task, 10), 20u);
    EXPECT_EQ(result_size(task, UINT64_MAX), UINT64_MAX);
    task.function = RandomFunction::dropout_mask;
    EXPECT_EQ(result_size(task, 9), 2u);
    EXPECT_EQ(result_size(task, 0), 0u);
}

}  // namespace
}  // namespace canopy
