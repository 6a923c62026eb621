// SPDX-License-Identifier: Apache-2.0
// The generator behind random-number tasks, checked against the published results of Philox4x32-10.
#include <gtest/gtest.h>

#include "core/memory/random_numbers.h"

namespace canopy {
namespace {

TEST(Philox, GivesTheKnownBlocks) {
    Philox zeros(0, {0, 0});
    for (std::uint32_t expected : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u})
        EXPECT_EQ(zeros.next(), expected);
    Philox ones(~std::uint64_t{0}, {~std::uint64_t{0}, ~std::uint64_t{0}});
    for (std::uint32_t expected : {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu})
        EXPECT_EQ(ones.next(), expected);
}

TEST(Philox, CounterAdvancesByBlocksAndCarries) {
    Philox random(7, {~std::uint64_t{0}, 4});
    EXPECT_EQ(random.counter(), (std::array<std::uint64_t, 2>{~std::uint64_t{0}, 4}));
    for (int number = 0; number < 4; ++number) random.next();
    EXPECT_EQ(random.counter(), (std::array<std::uint64_t, 2>{0, 5}));
    random.next();
    EXPECT_EQ(random.counter(), (std::array<std::uint64_t, 2>{1, 5}));
}

TEST(RandomTask, ResultSizeCountsBitsOfMasksAndElementsOtherwise) {
    RandomTask task;
    task.type = RandomType::float16;
    EXPECT_EQ(result_size(task, 10), 20u);
    EXPECT_EQ(result_size(task, UINT64_MAX), SIZE_MAX);
    task.function = RandomFunction::dropout_mask;
    EXPECT_EQ(result_size(task, 9), 2u);
    EXPECT_EQ(result_size(task, 0), 0u);
}

}  // namespace
}  // namespace canopy
