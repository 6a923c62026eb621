// SPDX-License-Identifier: Apache-2.0
// CPU kernels on several devices, and environment settings for CPU cores.
#include "fixtures/cpu_kernel_fixture.h"
#include "runtime/rt.h"

namespace conformance {
namespace {

// ---- several devices -----------------------------------------------------------------------------------------------

class CpuKernelDevices : public CpuKernelTest {
protected:
    static constexpr std::int32_t devices = 3;

    void SetUp() override {
        CpuKernelTest::SetUp();
        if (IsSkipped()) return;
        for (std::int32_t device = 0; device < devices; ++device) {
            if (device != 0) ASSERT_ACL_OK(aclrtSetDevice(device));
            ASSERT_ACL_OK(aclrtGetCurrentContext(&contexts_[device]));
            ASSERT_ACL_OK(aclrtCreateStream(&streams_[device]));
            void* memory = nullptr;
            ASSERT_ACL_OK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            memory_[device] = static_cast<std::uint64_t*>(memory);
        }
        ASSERT_ACL_OK(aclrtSetCurrentContext(contexts_[0]));
    }
    void TearDown() override {
        for (std::int32_t device = devices - 1; device >= 0; --device) {
            if (!streams_[device]) continue;
            EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[device]));
            EXPECT_ACL_OK(aclrtDestroyStream(streams_[device]));
            EXPECT_ACL_OK(aclrtFree(memory_[device]));
            if (device != 0) EXPECT_ACL_OK(aclrtResetDevice(device));
        }
        CpuKernelTest::TearDown();
    }
    template <class Block>
    void launch_on(std::int32_t device, const char* name, Block block) {
        aclrtFuncHandle found = kernel(name);
        EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[device]));
        EXPECT_ACL_OK(launch(found, 1, streams_[device], block));
        EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[0]));
    }
    std::uint64_t word_of(std::int32_t device) {
        std::uint64_t word = 0;
        EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[device]));
        EXPECT_ACL_OK(aclrtSynchronizeStream(streams_[device]));
        EXPECT_ACL_OK(aclrtMemcpy(&word, 8, memory_[device], 8, ACL_MEMCPY_DEVICE_TO_HOST));
        EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[0]));
        return word;
    }

    static constexpr std::size_t bytes = 64;
    aclrtContext contexts_[devices] = {};
    aclrtStream streams_[devices] = {};
    std::uint64_t* memory_[devices] = {};
};

TEST_F(CpuKernelDevices, OneFunctionRunsOnEveryDeviceWithVariablesOfItsOwn) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
        for (std::int32_t device = 0; device < devices; ++device)
            for (std::int32_t times = 0; times <= device; ++times)
                launch_on(device, "count_calls", Write{memory_[device], 0});
        for (std::int32_t device = 0; device < devices; ++device) EXPECT_EQ(word_of(device), round * (device + 1));
    }
}

TEST_F(CpuKernelDevices, AFaultOnOneDeviceLeavesTheOthersAlone) {
    launch_on(1, "trap", std::uint64_t{0});
    for (std::int32_t device : {0, 2}) launch_on(device, "write_value", Write{memory_[device], 9});
    EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[1]));
    EXPECT_EQ(aclrtSynchronizeStream(streams_[1]), ACL_ERROR_RT_AICPU_EXCEPTION);
    EXPECT_EQ(word_of(0), 9u);
    EXPECT_EQ(word_of(2), 9u);
    launch_on(1, "write_value", Write{memory_[1], 10});
    EXPECT_EQ(word_of(1), 10u);
}

// ---- the environment -----------------------------------------------------------------------------------------------

void cores_are_counted_as_set() {
    setenv("CANOPY_CPU_CORES", "5", 1);
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    std::int64_t cores = 0;
    std::uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICPU_CORE_NUM, &cores));
    EXPECT_ACL_OK(rtGetAiCpuCount(&count));
    EXPECT_EQ(cores, 5);
    EXPECT_EQ(count, 5u);
}

TEST(CpuKernelSettings, CpuCoresAreAsManyAsTheEnvironmentSays) { EXPECT_IN_OWN_PROCESS(cores_are_counted_as_set); }

}  // namespace
}  // namespace conformance
