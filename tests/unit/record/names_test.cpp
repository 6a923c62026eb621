// SPDX-License-Identifier: Apache-2.0
// The table of names and texts when it is full.
#include "record/names.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace canopy::record {
namespace {

TEST(RecordNames, AFullTableHasOneNameForTheRest) {
    const auto table = std::make_unique<Names>();
    const std::uint32_t first = table->name("0");
    for (int i = 1; i < 20'000; ++i) table->name(std::to_string(i));
    EXPECT_EQ(table->name("0"), first);
    EXPECT_EQ(table->name("19999"), profile::last_name);
    EXPECT_EQ(table->name("one more"), profile::last_name);
    static const char literal[] = "a literal that comes late";
    EXPECT_EQ(table->literal(literal), profile::last_name);
    Names::Position position;
    const std::vector<NumberedText> texts = table->after(position);
    EXPECT_EQ(texts.size(), profile::last_name - 1 + 2);
    EXPECT_EQ(texts[0].number, profile::last_name);
    EXPECT_EQ(texts[0].text, "(other names)");
    EXPECT_TRUE(table->after(position).empty());
}

TEST(RecordNames, MoreLiteralsThanPlacesKeepTheirNumbers) {
    const auto table = std::make_unique<Names>();
    constexpr std::size_t count = 10'000;
    std::string memory;
    for (std::size_t i = 0; i < count; ++i) memory += std::to_string(100'000 + i) + '\0';
    for (int round = 0; round < 2; ++round)
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(table->literal(memory.data() + i * 7), table->name(std::to_string(100'000 + i)));
}

}  // namespace
}  // namespace canopy::record
