// SPDX-License-Identifier: Apache-2.0
// Sizes of temporary memory and tilings of the high-level vector operations.
#include <gtest/gtest.h>
#include <tiling/tiling_api.h>

#include <cstring>
#include <string>

namespace {

using namespace AscendC;
using platform_ascendc::PlatformAscendCManager;

constexpr uint32_t untouched = 0xABCD;

struct Sizes {
    uint32_t largest = untouched, smallest = untouched;
};

bool operator==(const Sizes& left, const Sizes& right) {
    return left.largest == right.largest && left.smallest == right.smallest;
}
std::ostream& operator<<(std::ostream& out, const Sizes& sizes) {
    return out << '{' << sizes.largest << ", " << sizes.smallest << '}';
}

using Shaped = void (*)(const TensorShape&, uint32_t, bool, uint32_t&, uint32_t&);
Sizes ask(Shaped function, const TensorShape& shape, uint32_t size, bool reuse = false) {
    Sizes sizes;
    function(shape, size, reuse, sizes.largest, sizes.smallest);
    return sizes;
}

const platform_ascendc::PlatformAscendC& platform() { return *PlatformAscendCManager::GetInstance("Ascend910B3"); }

TEST(VectorSizes, OfMathAreAFactorOfTheOperand) {
    EXPECT_EQ(ask(GetAcoshMaxMinTmpSize, {4, 256}, 2), (Sizes{2 * 1024 * 2, 2 * 256}));
    EXPECT_EQ(ask(GetAcoshMaxMinTmpSize, {4, 256}, 4), (Sizes{1024 * 4, 256}));
    EXPECT_EQ(ask(GetAcoshMaxMinTmpSize, {8}, 4), (Sizes{256, 256})) << "one repeat at least";
    EXPECT_EQ(ask(GetLgammaMaxMinTmpSize, {1000}, 2), (Sizes{26 * 2000, 26 * 256}));
    EXPECT_EQ(ask(GetXorMaxMinTmpSize, {1000}, 2), (Sizes{2000, 256}));
    EXPECT_EQ(ask(GetSinMaxMinTmpSize, {1000}, 4, false), (Sizes{12000, 768}));
    EXPECT_EQ(ask(GetSinMaxMinTmpSize, {1000}, 4, true), (Sizes{8000, 512}));
    EXPECT_EQ(ask(GetFracMaxMinTmpSize, {1000}, 4), (Sizes{32, 32})) << "a buffer can always be allocated";
    EXPECT_EQ(ask(GetClampMaxMinTmpSize, {1000}, 4), (Sizes{1000, 256}));
    Sizes cosine;
    GetCosMaxMinTmpSize(CosConfig{CosAlgo::RADIAN_REDUCTION}, {1000}, 2, false, cosine.largest, cosine.smallest);
    EXPECT_EQ(cosine, (Sizes{16000, 2048}));
    Sizes exponential;
    EXPECT_TRUE(GetExpMaxMinTmpSize({128}, 2, false, exponential.largest, exponential.smallest));
    EXPECT_EQ(exponential, (Sizes{2048, 2048}));
}

TEST(VectorSizes, OfPowerDependOnTheExponent) {
    Sizes sizes;
    GetPowerMaxMinTmpSize({1000}, {1000}, false, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{16000, 1024}));
    GetPowerMaxMinTmpSize({1000}, {1}, false, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{20000, 1280}));
    GetPowerMaxMinTmpSize({1}, {1000}, false, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{16000, 1024})) << "the tensor counts, not the scalar";
    uint32_t live = 0, extra = 1;
    GetPowerTmpBufferFactorSize(true, false, false, 4, live, extra);
    EXPECT_EQ(live, 5u);
    EXPECT_EQ(extra, 0u);
}

TEST(VectorSizes, FactorsAreNeverZero) {
    uint32_t live = 0, extra = 1;
    GetFracTmpBufferFactorSize(4, live, extra);
    EXPECT_EQ(live, 1u);
    EXPECT_EQ(extra, 0u);
    GetTanTmpBufferFactorSize(2, live, extra);
    EXPECT_EQ(live, 10u);
    GetWhereTmpBufferFactorSize(platform(), 4, live, extra);
    EXPECT_EQ(live, 1u);
    GetAscendQuantTmpBufferFactorSize(live, extra);
    EXPECT_EQ(live, 1u);
}

TEST(VectorSizes, OfRoundDependOnTheChip) {
    Sizes sizes;
    GetRoundMaxMinTmpSize(platform(), {1000}, 2, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{2000, 256}));
    GetRoundMaxMinTmpSize(*PlatformAscendCManager::GetInstance("Ascend310P3"), {1000}, 2, false, sizes.largest,
                          sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{4000, 512}));
    GetRintMaxMinTmpSize(platform(), {1000}, 2, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{32, 32}));
}

TEST(VectorSizes, OfActivationsAndSoftmax) {
    EXPECT_EQ(GetGeluMinTmpSize({1000}, 2), 768u);
    EXPECT_EQ(GetGeluMaxTmpSize({1000}, 2), 12000u);
    EXPECT_EQ(GetSoftMaxMaxTmpSize({2, 4, 128}, 2, false), 4u * 8 * (16 + 128 + 64));
    EXPECT_EQ(GetSoftMaxMinTmpSize({2, 4, 128}, 2, false), 4u * (16 + 128 + 64));
    EXPECT_EQ(GetSoftMaxMinTmpSize({128}, 4, false), 4u * (8 + 128 + 64)) << "one dimension is a row";
    EXPECT_EQ(GetSoftMaxFlashV2MinTmpSize({8, 128}, 2, 4, true), 4u * (16 + 128 + 64));
    EXPECT_EQ(GetSoftMaxGradMinTmpSize({8, 128}, 4, true, false), 4u * (8 + 128 + 64));
    EXPECT_EQ(GetLogSoftMaxMaxTmpSize({8, 128}, 4, false), 8u * 4 * (8 + 128 + 64));
    Sizes sizes;
    GetSwiGLUMaxMinTmpSize({8, 128}, 4, sizes.largest, sizes.smallest, false);
    EXPECT_EQ(sizes, (Sizes{32, 32}));
}

TEST(VectorSizes, OfSumsAndReductions) {
    Sizes sizes;
    GetSumMaxMinTmpSize(1000, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{64, 64}));
    sizes = {};
    GetReduceMaxMaxMinTmpSize({8, 1024}, ge::DT_FLOAT, ReducePattern::AR, true, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{32768, 4096}));
    sizes = {};
    GetReduceSumMaxMinTmpSize({8, 1024}, ge::DT_FLOAT, ReducePattern::ARA, true, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, Sizes{}) << "only AR and RA";
    GetReduceAnyMaxMinTmpSize({8}, ge::DT_UINT8, ReducePattern::AR, true, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, Sizes{}) << "only two dimensions";
}

TEST(VectorSizes, OfLayout) {
    Sizes sizes;
    GetPadMaxMinTmpSize({10, 17}, 2, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{64 * 176, 1024}));
    GetDropOutMaxMinTmpSize({1000}, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{8000, 512}));
    GetSelectMaxMinTmpSize({16, 1000}, {1}, 2, {16, 1000}, 1, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{32512, 8704}));
    GetSelectMaxMinTmpSize({1}, {2, 32}, 2, {2, 64}, 1, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{1088, 1088})) << "a mask with another pitch is copied";
    EXPECT_EQ(GetSelectMinTmpSize({1}, {2, 32}, 2, {2, 64}, 1, true), 1024u);
    sizes = {};
    GetSelectMaxMinTmpSize({2, 32}, {2, 32}, 2, {2, 32}, 1, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, Sizes{}) << "one source is a scalar";
    GetTransposeMaxMinTmpSize({16, 32}, 2, 7, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{1024, 256}));
    sizes = {};
    GetTransposeMaxMinTmpSize({16, 32}, 2, 1, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, Sizes{}) << "type 1 takes four dimensions";
    GetArangeMaxMinTmpSize(sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{32, 32}));
}

TEST(VectorSizes, OfSorting) {
    Sizes sizes;
    EXPECT_TRUE(GetTopKMaxMinTmpSize(platform(), 64, 4, false, false, TopKMode::TOPK_NORMAL, true, 4, sizes.largest,
                                     sizes.smallest));
    EXPECT_EQ(sizes, (Sizes{1024, 1024}));
    sizes = {};
    EXPECT_FALSE(GetTopKMaxMinTmpSize(platform(), 33, 4, false, false, TopKMode::TOPK_NORMAL, true, 4, sizes.largest,
                                      sizes.smallest));
    EXPECT_FALSE(GetTopKMaxMinTmpSize(platform(), 64, 4, false, false, TopKMode::TOPK_NSMALL, true, 4, sizes.largest,
                                      sizes.smallest));
    EXPECT_EQ(sizes, Sizes{});
    TopKConfig radix;
    radix.algo = TopKAlgo::RADIX_SELECT;
    EXPECT_TRUE(GetTopKMaxMinTmpSize(100, 4, 10, false, false, TopKMode::TOPK_NORMAL, true, ge::DT_INT64, radix,
                                     sizes.largest, sizes.smallest));
    EXPECT_EQ(sizes, (Sizes{2400, 2400}));
    SortConfig config;
    config.hasDstIndex = true;
    GetSortMaxMinTmpSize({100}, ge::DT_FLOAT, ge::DT_UINT32, false, config, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, (Sizes{800, 800}));
    EXPECT_EQ(GetSortTmpSize(platform(), 64, 4), 512u);
}

TEST(VectorSizes, AreLeftAloneByAnEmptyShape) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(ask(GetAcosMaxMinTmpSize, {4, 0}, 2), Sizes{});
    EXPECT_EQ(ask(GetSigmoidMaxMinTmpSize, TensorShape{}, 2), Sizes{});
    EXPECT_EQ(GetSoftMaxMinTmpSize(TensorShape{}, 2, false), 0u);
    Sizes sizes;
    EXPECT_FALSE(GetExpMaxMinTmpSize({-1}, 2, false, sizes.largest, sizes.smallest));
    EXPECT_FALSE(GetExpMaxMinTmpSize({4}, 0, false, sizes.largest, sizes.smallest));
    EXPECT_EQ(sizes, Sizes{});
    const std::string report = testing::internal::GetCapturedStderr();
    EXPECT_NE(report.find("GetAcosMaxMinTmpSize: every dimension of the shape must be positive"), std::string::npos);
    EXPECT_NE(report.find("GetExpMaxMinTmpSize: typeSize is 0"), std::string::npos);
}

TEST(VectorTilings, OfSoftmaxDescribeOnePass) {
    tiling::SoftMaxTiling tiling;
    SoftMaxTilingFunc({2, 4, 128}, 2, 10000, tiling);
    EXPECT_EQ(tiling.srcM, 8u);
    EXPECT_EQ(tiling.srcK, 128u);
    EXPECT_EQ(tiling.srcSize, 1024u);
    EXPECT_EQ(tiling.outMaxK, 16u);
    EXPECT_EQ(tiling.splitM, 8u);
    EXPECT_EQ(tiling.rangeM, 1u);
    EXPECT_EQ(tiling.tailM, 0u);
    EXPECT_TRUE(IsBasicBlockInSoftMax(tiling));
    SoftMaxFlashV2TilingFunc({7, 128}, 2, 4, 10000, tiling, true);
    EXPECT_FALSE(IsBasicBlockInSoftMax(tiling));
    const tiling::SoftMaxTiling before = tiling;
    SoftMaxGradTilingFunc({8, 100}, 2, 10000, tiling);
    EXPECT_EQ(std::memcmp(&before, &tiling, sizeof tiling), 0) << "rows of 200 bytes are refused";
}

// The class holds the same bytes as the plain structure.
template <class Plain, class Class>
void expect_same(const Plain& plain, const Class& filled) {
    ASSERT_EQ(filled.GetDataSize(), sizeof(Plain));
    Plain saved;
    filled.SaveToBuffer(&saved, sizeof saved);
    EXPECT_EQ(std::memcmp(&plain, &saved, sizeof saved), 0);
}

TEST(VectorTilings, OfNormalisationHaveTheReciprocal) {
    tiling::LayerNormTiling layer;
    optiling::LayerNormTiling layer_class;
    GetLayerNormNDTilingInfo({2, 8, 64, 50}, 4096, 4, false, layer);
    GetLayerNormNDTilingInfo({2, 8, 64, 50}, 4096, 4, false, layer_class);
    EXPECT_EQ(layer.bLength, 2u);
    EXPECT_EQ(layer.sLength, 8u);
    EXPECT_EQ(layer.hLength, 64u);
    EXPECT_EQ(layer.originalHLength, 50u);
    EXPECT_EQ(layer.lastDimValueBack, 1.0f / 50);
    expect_same(layer, layer_class);

    tiling::LayerNormGradTiling gradient;
    optiling::LayerNormGradTiling gradient_class;
    GetLayerNormGradNDTilingInfo({2, 8, 64, 50}, 4096, 4, false, gradient);
    GetLayerNormGradNDTilingInfo({2, 8, 64, 50}, 4096, 4, false, gradient_class);
    float back = 0;
    std::memcpy(&back, &gradient.lastDimValueBack, sizeof back);
    EXPECT_EQ(back, 1.0f / 50);
    expect_same(gradient, gradient_class);

    tiling::LayerNormSeparateTiling separate;
    optiling::LayerNormSeparateTiling separate_class;
    GetLayerNormNDTilingInfo({16, 100}, 4096, 4, false, true, separate);
    GetLayerNormNDTilingInfo({16, 100}, 4096, 4, false, true, separate_class);
    EXPECT_EQ(separate.aLength, 16u);
    EXPECT_EQ(separate.rLength, 100u);
    EXPECT_EQ(separate.rHeadLength, 64u);
    EXPECT_EQ(separate.rValueBack, 0.01f);
    expect_same(separate, separate_class);

    tiling::RmsNormTiling rms;
    optiling::RmsNormTiling rms_class;
    EXPECT_TRUE(GetRmsNormTilingInfo({2, 8, 64}, {2, 8, 60}, 4096, 4, rms));
    EXPECT_TRUE(GetRmsNormTilingInfo({2, 8, 64}, {2, 8, 60}, 4096, 4, rms_class));
    EXPECT_EQ(rms.originalHLength, 60u);
    EXPECT_EQ(rms.reciprocalOfHLength, 1.0f / 60);
    expect_same(rms, rms_class);

    tiling::GroupNormTiling group;
    optiling::GroupNormTiling group_class;
    GetGroupNormNDTilingInfo({2, 8, 5, 5}, 4096, 4, false, 4, group);
    GetGroupNormNDTilingInfo({2, 8, 5, 5}, 4096, 4, false, 4, group_class);
    EXPECT_EQ(group.d, 2u);
    EXPECT_EQ(group.hwAlignSize, 32u);
    EXPECT_TRUE(group.smallShape);
    EXPECT_EQ(group_class.get_factor(), 1.0f / 50);
    EXPECT_EQ(group_class.GetDataSize(), sizeof group);

    tiling::DeepNormTiling deep;
    EXPECT_FALSE(GetDeepNormTilingInfo({1, 1, 2048}, {1, 1, 2048}, 4096, 4, false, false, deep));
    EXPECT_EQ(deep.hLength, 0u);
    EXPECT_TRUE(GetDeepNormTilingInfo({1, 1, 2032}, {1, 1, 2030}, 4096, 4, false, false, deep));
    EXPECT_EQ(deep.originalHLength, 2030u);
}

TEST(VectorTilings, OfNormalisationRefuseWrongShapes) {
    tiling::LayerNormTiling layer;
    GetLayerNormNDTilingInfo({2, 8, 64}, 4096, 4, false, layer);
    GetLayerNormNDTilingInfo({2, 8, 63, 60}, 4096, 4, false, layer);
    GetLayerNormNDTilingInfo({2, 8, 64, 65}, 4096, 4, false, layer);
    EXPECT_EQ(layer.hLength, 0u);
    Sizes sizes;
    GetLayerNormMaxMinTmpSize({2, 8, 64}, 4, false, sizes.largest, sizes.smallest);
    EXPECT_EQ(sizes, Sizes{});
    GetLayerNormMaxMinTmpSize({2, 8, 64, 64}, 4, false, sizes.largest, sizes.smallest);
    EXPECT_GE(sizes.smallest, 32u);
    EXPECT_GE(sizes.largest, sizes.smallest);
}

TEST(VectorTilings, OfLayoutKeepTheShape) {
    tiling::PadTiling pad;
    PadTilingFunc({3, 17}, {3, 15}, 4096, 2, pad);
    EXPECT_EQ(pad.srcHeight, 3u);
    EXPECT_EQ(pad.srcWidth, 17u);
    EXPECT_EQ(pad.srcOriWidth, 15u);
    EXPECT_EQ(pad.blocksPerRow, 2u);
    optiling::UnPadTiling unpad;
    UnPadTilingFunc({3, 32}, 4096, 2, unpad);
    EXPECT_EQ(unpad.get_srcHeight(), 3u);
    EXPECT_EQ(unpad.get_srcWidth(), 32u);
    UnPadTilingFunc({3, 33}, 4096, 2, unpad);
    EXPECT_EQ(unpad.get_srcWidth(), 32u) << "a class keeps its values when the shape is refused";
    optiling::ConfusionTransposeTiling transpose;
    GetTransposeTilingInfo({2, 3, 16, 32}, 4096, 2, 4, transpose);
    EXPECT_EQ(transpose.get_param0(), 4u);
    EXPECT_EQ(transpose.get_param1(), 4u);
    EXPECT_EQ(transpose.get_param2(), 2u);
    EXPECT_EQ(transpose.get_param5(), 32u);
    GetConfusionTransposeOnlyTilingInfo({16, 32}, 4096, 2, transpose);
    EXPECT_EQ(transpose.get_param0(), 7u);
    optiling::TopkTiling top;
    EXPECT_TRUE(TopKTilingFunc(platform(), 64, 2, 5, 4, false, TopKMode::TOPK_NORMAL, true, top));
    EXPECT_EQ(top.get_innerDataSize(), 64);
    EXPECT_EQ(top.get_kAlignFourBytes(), 8);
    EXPECT_FALSE(TopKTilingFunc(platform(), 64, 2, 65, 4, false, TopKMode::TOPK_NORMAL, true, top));
}

#define CANOPY_CHECK(name, FIELDS) EXPECT_EQ(optiling::name().GetDataSize(), sizeof(AscendC::tiling::name)) << #name;
TEST(VectorTilings, ClassesHaveTheSizeOfTheirStructures) { CANOPY_VECTOR_TILINGS(CANOPY_CHECK) }
#undef CANOPY_CHECK

}  // namespace
