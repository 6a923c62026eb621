// SPDX-License-Identifier: Apache-2.0
// The bytes that accesses touch.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "check/model/walk.h"

namespace canopy::check {
namespace {

using Pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

CanopyCheckAccess access_at(std::uint64_t address, std::uint64_t bytes) {
    CanopyCheckAccess access{};
    access.address = reinterpret_cast<const void*>(address);
    access.bytes = bytes;
    access.pieces = access.repeats = 1;
    access.element = 4;
    return access;
}

Pieces pieces_of(const CanopyCheckAccess& access) {
    Pieces pieces;
    each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) { pieces.emplace_back(address, bytes); });
    return pieces;
}

TEST(Walk, OnePieceIsItself) {
    const CanopyCheckAccess access = access_at(0x1000, 100);
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1000, 100}}));
    EXPECT_EQ(extent_of(access).begin, 0x1000U);
    EXPECT_EQ(extent_of(access).end, 0x1064U);
    EXPECT_EQ(bytes_of(access), 100U);
}

TEST(Walk, AdjacentPiecesAreJoinedAcrossRepeats) {
    CanopyCheckAccess access = access_at(0x1000, 32);
    access.step = 32;
    access.pieces = 8;
    access.repeat_step = 256;
    access.repeats = 4;
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1000, 1024}}));
    EXPECT_EQ(bytes_of(access), 1024U);
}

TEST(Walk, StridesLeaveGaps) {
    CanopyCheckAccess access = access_at(0x1000, 32);
    access.step = 64;
    access.pieces = 2;
    access.repeat_step = 256;
    access.repeats = 2;
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1000, 32}, {0x1040, 32}, {0x1100, 32}, {0x1140, 32}}));
    EXPECT_EQ(extent_of(access).end, 0x1160U);
    EXPECT_EQ(bytes_of(access), 128U);
}

TEST(Walk, StepsOfZeroTouchTheSameBytes) {
    CanopyCheckAccess access = access_at(0x1000, 32);
    access.pieces = 8;
    access.repeats = 3;
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1000, 32}}));
    EXPECT_EQ(bytes_of(access), 32U);
}

TEST(Walk, StepsMayGoBack) {
    CanopyCheckAccess access = access_at(0x1000, 32);
    access.step = static_cast<std::uint64_t>(-64);
    access.pieces = 3;
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1000, 32}, {0xfc0, 32}, {0xf80, 32}}));
    EXPECT_EQ(extent_of(access).begin, 0xf80U);
    EXPECT_EQ(extent_of(access).end, 0x1020U);
}

TEST(Walk, LanesSelectElementsOfEachRepeat) {
    const std::uint64_t lanes[2] = {0b1'0000'0101, 0};
    CanopyCheckAccess access = access_at(0x1000, 32);
    access.step = 64;
    access.pieces = 8;
    access.repeat_step = 1024;
    access.repeats = 2;
    access.lanes = lanes;
    access.lanes_per_bit = 1;
    // Element 8 is the first of the second piece.
    EXPECT_EQ(pieces_of(access),
              (Pieces{{0x1000, 4}, {0x1008, 4}, {0x1040, 4}, {0x1400, 4}, {0x1408, 4}, {0x1440, 4}}));
    EXPECT_EQ(bytes_of(access), 24U);
}

TEST(Walk, ABitMaySelectSeveralElements) {
    const std::uint64_t lanes[2] = {0b10, 0};
    CanopyCheckAccess access = access_at(0x1000, 4);
    access.step = 4;
    access.pieces = 8;
    access.element = 2;
    access.lanes = lanes;
    access.lanes_per_bit = 4;
    EXPECT_EQ(pieces_of(access), (Pieces{{0x1008, 8}}));
}

TEST(Walk, BitsOfTheSecondWordSelectTheUpperHalf) {
    const std::uint64_t lanes[2] = {0, std::uint64_t{1} << 63};
    CanopyCheckAccess access = access_at(0, 32);
    access.step = 32;
    access.pieces = 8;
    access.element = 2;
    access.lanes = lanes;
    access.lanes_per_bit = 1;
    EXPECT_EQ(pieces_of(access), (Pieces{{254, 2}}));
}

TEST(Walk, NothingIsTouchedByNothing) {
    for (int field = 0; field < 3; ++field) {
        CanopyCheckAccess access = access_at(0x1000, field == 0 ? 0 : 32);
        if (field == 1) access.pieces = 0;
        if (field == 2) access.repeats = 0;
        EXPECT_TRUE(pieces_of(access).empty());
        EXPECT_EQ(extent_of(access).begin, extent_of(access).end);
        EXPECT_EQ(bytes_of(access), 0U);
    }
}

}  // namespace
}  // namespace canopy::check
