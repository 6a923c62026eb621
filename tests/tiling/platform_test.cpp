// SPDX-License-Identifier: Apache-2.0
// Figures of the chip as tilings ask for them.
#include <acl/acl.h>
#include <gtest/gtest.h>
#include <tiling/platform/platform_ascendc.h>

namespace {

using namespace platform_ascendc;

uint64_t size_of(const PlatformAscendC& platform, CoreMemType type) {
    uint64_t size = 12345;
    platform.GetCoreMemSize(type, size);
    return size;
}

TEST(Platform, OfTheCurrentChipAgreesWithTheRuntime) {
    const PlatformAscendC& platform = *PlatformAscendCManager::GetInstance();
    int64_t vector_cores = 0, cube_cores = 0;
    ASSERT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &vector_cores), ACL_SUCCESS);
    ASSERT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &cube_cores), ACL_SUCCESS);
    EXPECT_EQ(platform.GetCoreNumAiv(), vector_cores);
    EXPECT_EQ(platform.GetCoreNumAic(), cube_cores);
    EXPECT_EQ(PlatformAscendC(nullptr).GetCoreNumAiv(), vector_cores);
}

TEST(Platform, KnowsTheMemoriesOfChipsByName) {
    const PlatformAscendC* older = PlatformAscendCManager::GetInstance("Ascend910B3");
    ASSERT_NE(older, nullptr);
    EXPECT_EQ(older->GetSocVersion(), SocVersion::ASCEND910B);
    EXPECT_EQ(older->GetCoreNumAic(), 20u);
    EXPECT_EQ(size_of(*older, CoreMemType::UB), 192u * 1024 - 256);
    EXPECT_EQ(size_of(*older, CoreMemType::L0_C), 128u * 1024);
    EXPECT_EQ(older->GetLibApiWorkSpaceSize(), 16u << 20);
    const PlatformAscendC* newer = PlatformAscendCManager::GetInstance("Ascend950PR_9599");
    ASSERT_NE(newer, nullptr);
    EXPECT_EQ(newer->GetSocVersion(), SocVersion::ASCEND950);
    EXPECT_EQ(size_of(*newer, CoreMemType::L0_C), 256u * 1024);
    EXPECT_EQ(size_of(*newer, CoreMemType::BT), 4u * 1024);
    EXPECT_EQ(PlatformAscendCManager::GetInstance("Ascend950PR_9599"), newer);
    EXPECT_EQ(PlatformAscendCManager::GetInstance("NoSuchChip"), nullptr);
}

TEST(Platform, CountsTheBlocksThatCarryAsManyVectorCores) {
    const PlatformAscendC& platform = *PlatformAscendCManager::GetInstance();
    EXPECT_EQ(platform.CalcTschBlockDim(48, 24, 48), 24u);
    EXPECT_EQ(platform.CalcTschBlockDim(5, 24, 48), 3u);
    EXPECT_EQ(platform.CalcTschBlockDim(5, 0, 48), 5u);
}

}  // namespace
