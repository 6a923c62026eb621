// SPDX-License-Identifier: Apache-2.0
// Figures of the chip as tilings ask for them.
#include <acl/acl.h>
#include <canopy/chips.h>
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

TEST(Platform, AgreesWithTheTableOfChips) {
    for (const canopy::Chip& chip : canopy::chip_table) {
        const PlatformAscendC* platform = PlatformAscendCManager::GetInstance(chip.name.data());
        ASSERT_NE(platform, nullptr) << chip.name;
        EXPECT_EQ(platform->GetCurNpuArch(), chip.architecture) << chip.name;
        EXPECT_EQ(platform->GetCoreNumAic(), chip.cube_cores) << chip.name;
        EXPECT_EQ(size_of(*platform, CoreMemType::L1), chip.l1_buffer) << chip.name;
        EXPECT_EQ(size_of(*platform, CoreMemType::L0_C), chip.l0c_buffer) << chip.name;
        EXPECT_EQ(size_of(*platform, CoreMemType::BT), chip.bias_buffer) << chip.name;
    }
    // A class of chips is the same chip for everybody.
    EXPECT_EQ(PlatformAscendCManager::GetInstance("Ascend910B")->GetCoreNumAic(),
              canopy::find_chip("Ascend910B")->cube_cores);
}

TEST(Platform, OfACoupledChipCountsItsCoresForBothKindsOfWork) {
    const PlatformAscendC* inference = PlatformAscendCManager::GetInstance("Ascend310P3");
    ASSERT_NE(inference, nullptr);
    EXPECT_EQ(inference->GetSocVersion(), SocVersion::ASCEND310P);
    EXPECT_EQ(inference->GetCoreNum(), 8u);
    EXPECT_EQ(inference->GetCoreNumAiv(), 8u);
    EXPECT_EQ(inference->GetCoreNumVector(), 7u);
    EXPECT_EQ(inference->GetLibApiWorkSpaceSize(), 2u << 20);
    EXPECT_EQ(size_of(*inference, CoreMemType::UB), 256u * 1024);
    EXPECT_EQ(size_of(*inference, CoreMemType::L1), 1024u * 1024);
    EXPECT_EQ(size_of(*inference, CoreMemType::FB), 0u);
    const PlatformAscendC* training = PlatformAscendCManager::GetInstance("Ascend910A");
    ASSERT_NE(training, nullptr);
    EXPECT_EQ(training->GetSocVersion(), SocVersion::ASCEND910);
    EXPECT_EQ(training->GetCoreNumAiv(), 32u);
    EXPECT_EQ(training->GetCoreNumVector(), 0u);
    EXPECT_EQ(PlatformAscendCManager::GetInstance("Ascend310B4")->GetSocVersion(), SocVersion::ASCEND310B);
}

TEST(Platform, CountsTheBlocksThatCarryAsManyVectorCores) {
    const PlatformAscendC& platform = *PlatformAscendCManager::GetInstance();
    EXPECT_EQ(platform.CalcTschBlockDim(48, 24, 48), 24u);
    EXPECT_EQ(platform.CalcTschBlockDim(5, 24, 48), 3u);
    EXPECT_EQ(platform.CalcTschBlockDim(5, 0, 48), 5u);
}

}  // namespace
