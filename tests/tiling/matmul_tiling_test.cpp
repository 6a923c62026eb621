// SPDX-License-Identifier: Apache-2.0
// Every tiling of a matrix product is one that the chip could run, whatever the shape, the types and the wishes.
#include <gtest/gtest.h>
#include <tiling/tiling_api.h>

#include <random>

namespace {

using namespace matmul_tiling;

const platform_ascendc::PlatformAscendC& chip(const char* name) {
    return *platform_ascendc::PlatformAscendCManager::GetInstance(name);
}

int64_t bits_of(DataType type) {
    if (type == DataType::DT_INT4) return 4;
    if (type == DataType::DT_INT8) return 8;
    return type == DataType::DT_FLOAT ? 32 : 16;
}

// What the memories of a 910B allow.
void expect_legal(const TCubeTiling& t, DataType type, int64_t m, int64_t n, int64_t k, int64_t cores) {
    EXPECT_GE(t.usedCoreNum, 1);
    EXPECT_LE(t.usedCoreNum, cores);
    const auto parts = [](int64_t whole, int64_t part) { return (whole + part - 1) / part; };
    EXPECT_EQ(parts(m, t.singleCoreM) * parts(n, t.singleCoreN) * parts(k, t.singleCoreK), t.usedCoreNum);
    EXPECT_EQ(t.baseM % 16, 0);
    EXPECT_EQ(t.baseN % 16, 0);
    EXPECT_EQ(t.baseK % (256 / bits_of(type)), 0);
    EXPECT_GT(t.baseM, 0);
    EXPECT_GT(t.baseN, 0);
    EXPECT_GT(t.baseK, 0);
    EXPECT_LE(int64_t{t.baseM} * t.baseK * bits_of(type) / 8 * t.dbL0A, 64 * 1024);
    EXPECT_LE(int64_t{t.baseN} * t.baseK * bits_of(type) / 8 * t.dbL0B, 64 * 1024);
    EXPECT_LE(int64_t{t.baseM} * t.baseN * 4 * t.dbL0C, 128 * 1024);
    const int64_t ahead = (int64_t{t.depthA1} * t.baseM + int64_t{t.depthB1} * t.baseN) * t.baseK * bits_of(type) / 8;
    EXPECT_LE(ahead, 512 * 1024);
    EXPECT_EQ(t.depthA1 % (t.stepM * t.stepKa), 0);
    EXPECT_EQ(t.depthB1 % (t.stepN * t.stepKb), 0);
}

TEST(MatmulTiling, IsLegalForRandomShapes) {
    std::mt19937 random(5);
    const auto below = [&](int limit) { return static_cast<int32_t>(random() % static_cast<unsigned>(limit)); };
    for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
        const int32_t m = 1 + below(round % 3 ? 5000 : 40), n = 1 + below(5000), k = 1 + below(round % 5 ? 5000 : 20);
        const DataType types[] = {DataType::DT_FLOAT, DataType::DT_FLOAT16, DataType::DT_BF16, DataType::DT_INT8,
                                  DataType::DT_INT4};
        const DataType type = types[below(5)];
        const int32_t cores = 1 + below(50);
        MultiCoreMatmulTiling api(chip("Ascend910B1"));
        api.SetAType(TPosition::GM, CubeFormat::ND, type, below(2));
        api.SetBType(TPosition::GM, CubeFormat::ND, type, below(2));
        const bool local = below(3) == 0;
        api.SetCType(local ? TPosition::VECIN : TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
        api.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
        api.EnableBias(below(2));
        api.SetDim(cores);
        api.SetShape(m, n, k);
        api.SetOrgShape(m, n, k);
        if (below(3) == 0) api.EnableMultiCoreSplitK(true);
        if (below(3) == 0) api.SetMatmulConfigParams(1);
        api.SetBufferSpace(-1, -1, -1);
        TCubeTiling tiling;
        ASSERT_EQ(api.GetTiling(tiling), 0) << m << " x " << n << " x " << k;
        SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << " on " << cores << " cores");
        expect_legal(tiling, type, m, n, k, cores);
        EXPECT_EQ(tiling.M, m);
        EXPECT_EQ(tiling.Kb, k);
        if (local) {
            EXPECT_LE(int64_t{tiling.baseM} * tiling.baseN * 4, 192 * 1024);
        }
    }
}

TEST(MatmulTiling, SharesWhatCanBeSharedEvenly) {
    MultiCoreMatmulTiling api(chip("Ascend910B1"));
    api.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetDim(8);
    api.SetShape(1024, 512, 256);
    optiling::TCubeTiling tiling;
    ASSERT_EQ(api.GetTiling(tiling), 0);
    EXPECT_EQ(tiling.get_usedCoreNum(), 8);
    EXPECT_EQ(1024 % tiling.get_singleCoreM(), 0);
    EXPECT_EQ(512 % tiling.get_singleCoreN(), 0);
    EXPECT_EQ(tiling.get_singleCoreM() * tiling.get_singleCoreN(), 1024 * 512 / 8);
    int32_t m = 0, n = 0, k = 0, dim = 0, rows = 0, columns = 0;
    EXPECT_EQ(api.GetSingleShape(m, n, k), 0);
    EXPECT_EQ(m, tiling.get_singleCoreM());
    EXPECT_EQ(k, 256);
    EXPECT_EQ(api.GetCoreNum(dim, rows, columns), 0);
    EXPECT_EQ(rows * columns, 8);
}

TEST(MatmulTiling, FollowsFixedTilesAndShares) {
    MultiCoreMatmulTiling api(chip("Ascend910B1"));
    api.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetCType(TPosition::VECIN, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetDim(2);
    api.SetShape(1024, 640, 256);
    api.SetFixSplit(256, 128, -1);
    api.SetSingleShape(512, 640, -1);
    api.SetTraverse(MatrixTraverse::FIRSTN);
    TCubeTiling tiling;
    ASSERT_EQ(api.GetTiling(tiling), 0);
    EXPECT_EQ(tiling.baseM, 256);
    EXPECT_EQ(tiling.baseN, 128);
    EXPECT_EQ(tiling.singleCoreM, 512);
    EXPECT_EQ(tiling.singleCoreN, 640);
    EXPECT_EQ(tiling.usedCoreNum, 2);
    EXPECT_EQ(tiling.iterateOrder, 1);
}

TEST(MatmulTiling, RefusesWhatNoMemoryHolds) {
    MatmulApiTiling api(chip("Ascend910B1"));
    TCubeTiling tiling;
    tiling.baseM = 77;
    EXPECT_EQ(api.GetTiling(tiling), -1) << "no shape";
    api.SetShape(1024, 1024, 1024);
    api.SetFixSplit(512, 512, -1);
    EXPECT_EQ(api.GetTiling(tiling), -1) << "a tile of 1 MiB";
    api.SetFixSplit(100, 128, -1);
    EXPECT_EQ(api.GetTiling(tiling), -1) << "not a multiple of 16";
    EXPECT_EQ(tiling.baseM, 77) << "a refusal changes nothing";
    api.SetFixSplit(128, 128, -1);
    EXPECT_EQ(api.GetTiling(tiling), 0);
    EXPECT_EQ(tiling.usedCoreNum, 1);
    EXPECT_EQ(tiling.singleCoreM, 1024);
}

TEST(MatmulTiling, UsesTheLargerResultBufferOfANewerChip) {
    MatmulApiTiling api(chip("Ascend950PR_9599"));
    api.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    api.SetShape(1024, 1024, 1024);
    api.SetFixSplit(256, 256, -1);
    TCubeTiling tiling;
    EXPECT_EQ(api.GetTiling(tiling), 0);
}

}  // namespace
