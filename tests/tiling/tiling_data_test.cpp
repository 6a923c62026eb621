// SPDX-License-Identifier: Apache-2.0
// Tiling data declared by macros lies in memory as the plain structure with the same members does.
#include <gtest/gtest.h>
#include <tiling/tiling_api.h>

#include <cstddef>

namespace optiling {

BEGIN_TILING_DATA_DEF(InnerTilingData)
TILING_DATA_FIELD_DEF(uint8_t, small);
TILING_DATA_FIELD_DEF(uint16_t, middle);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(OuterTilingData)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF_STRUCT(InnerTilingData, inner);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 3, list);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(First, InnerTilingData)
REGISTER_TILING_DATA_CLASS(Second, OuterTilingData);

}  // namespace optiling

namespace {

struct Inner {
    uint8_t small;
    uint16_t middle;
};

struct Outer {
    uint8_t flag;
    uint64_t total;
    Inner inner;
    uint32_t list[3];
    TCubeTiling cube;
    float scale;
};

TEST(TilingData, LiesInMemoryAsThePlainStructure) {
    optiling::OuterTilingData data;
    data.set_flag(7);
    data.set_total(1ull << 40);
    data.inner.set_small(3);
    data.inner.set_middle(500);
    const uint32_t list[3] = {10, 20, 30};
    data.set_list(list);
    data.cube.set_singleCoreK(99);
    data.set_scale(0.5f);
    ASSERT_EQ(data.GetDataSize(), sizeof(Outer));
    Outer plain;
    data.SaveToBuffer(&plain, sizeof plain);
    EXPECT_EQ(plain.flag, 7);
    EXPECT_EQ(plain.total, 1ull << 40);
    EXPECT_EQ(plain.inner.small, 3);
    EXPECT_EQ(plain.inner.middle, 500);
    EXPECT_EQ(plain.list[2], 30u);
    EXPECT_EQ(plain.cube.singleCoreK, 99);
    EXPECT_EQ(plain.cube.M, 0);
    EXPECT_EQ(plain.scale, 0.5f);
    EXPECT_EQ(data.get_total(), 1ull << 40);
    EXPECT_EQ(data.get_list()[1], 20u);
    EXPECT_EQ(data.cube.get_singleCoreK(), 99);
}

TEST(TilingData, CopiesAreIndependent) {
    optiling::OuterTilingData first;
    first.inner.set_middle(1);
    optiling::OuterTilingData second = first;
    second.inner.set_middle(2);
    Outer plain;
    first.SaveToBuffer(&plain, sizeof plain);
    EXPECT_EQ(plain.inner.middle, 1);
    second.SaveToBuffer(&plain, sizeof plain);
    EXPECT_EQ(plain.inner.middle, 2);
}

TEST(TilingData, WritesNothingIntoABufferThatIsTooSmall) {
    optiling::InnerTilingData data;
    data.set_small(9);
    unsigned char bytes[4] = {0xEE, 0xEE, 0xEE, 0xEE};
    data.SaveToBuffer(bytes, 3);
    EXPECT_EQ(bytes[0], 0xEE);
    data.SaveToBuffer(bytes, 4);
    EXPECT_EQ(bytes[0], 9);
}

TEST(TilingData, OfAProductHasTheSizeThatKernelsRead) {
    optiling::TCubeTiling tiling;
    EXPECT_EQ(tiling.GetDataSize(), sizeof(TCubeTiling));
    EXPECT_EQ(sizeof(TCubeTiling), 50 * sizeof(int32_t));
    EXPECT_EQ(offsetof(TCubeTiling, baseM), 8 * sizeof(int32_t));
}

}  // namespace
