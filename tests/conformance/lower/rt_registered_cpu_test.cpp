// SPDX-License-Identifier: Apache-2.0
// The lower interface: shared objects for CPU cores that the program registers, with stubs for their functions.
#include "fixtures/cpu_kernel_fixture.h"
#include "runtime/rt.h"

namespace conformance {
namespace {

// Their addresses identify kernels.
const int stub_one = 1, stub_two = 2, stub_three = 3;

int register_object(const std::string& bytes, void** handle) {
    const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF_AICPU, 0, bytes.data(), bytes.size()};
    return rtDevBinaryRegister(&binary, handle);
}

class LowerRegisteredCpu : public CpuKernelTest {
protected:
    void SetUp() override {
        CpuKernelTest::SetUp();
        if (IsSkipped()) return;
        ASSERT_ACL_OK(register_object(bytes_of(CANOPY_TEST_CPU_2), &registered_));  // copies the bytes
    }
    void TearDown() override {
        if (registered_) EXPECT_ACL_OK(rtDevBinaryUnRegister(registered_));
        CpuKernelTest::TearDown();
    }
    void stub(const void* address, const char* function, void* binary = nullptr) {
        ASSERT_ACL_OK(rtFunctionRegister(binary ? binary : registered_, address, function, function, 0));
    }
    template <class Block>
    static int launch_stub(const void* address, Block block, rtStream_t stream, std::uint32_t blocks = 1) {
        return rtKernelLaunch(address, blocks, &block, sizeof block, nullptr, stream);
    }
    std::uint64_t first_word() {
        EXPECT_ACL_OK(rtStreamSynchronize(stream_));
        return read_back(words_, 1)[0];
    }

    void* registered_ = nullptr;
};

TEST_F(LowerRegisteredCpu, StubsLaunchTheFunctionsOfTheObject) {
    stub(&stub_one, "write_value");
    stub(&stub_two, "variant");
    EXPECT_ACL_OK(launch_stub(&stub_one, Write{words_, 33}, stream_));
    EXPECT_ACL_OK(launch_stub(&stub_two, Write{words_ + 1, 33}, stream_));
    Write write = {words_ + 2, 44};
    rtArgsEx_t block = {};
    block.args = &write;
    block.argsSize = sizeof write;
    EXPECT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_one, 1, &block, nullptr, stream_, 0, nullptr));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_EQ(read_back(words_, 3), (std::vector<std::uint64_t>{33, 2, 44}));
    void* found = nullptr;
    EXPECT_ACL_OK(rtGetFunctionByName("variant", &found));
    EXPECT_EQ(found, &stub_two);
}

TEST_F(LowerRegisteredCpu, RegisteringAllKernelsIsTheSame) {
    const std::string bytes = bytes_of(CANOPY_TEST_CPU_1);
    const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF_AICPU, 0, bytes.data(), bytes.size()};
    void* all = nullptr;
    ASSERT_ACL_OK(rtRegisterAllKernel(&binary, &all));
    Write write = {words_, 0};
    rtArgsEx_t block = {};
    block.args = &write;
    block.argsSize = sizeof write;
    // The key 2 selects fail_in_block_2, whose name ends in it.
    EXPECT_ACL_OK(rtKernelLaunchWithHandleV2(all, 2, 2, &block, nullptr, stream_, nullptr));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_ACL_OK(rtKernelLaunchWithHandleV2(all, 2, 3, &block, nullptr, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_EXCEPTION, "77", rtStreamSynchronize(stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "4711",
                     rtKernelLaunchWithHandleV2(all, 4711, 1, &block, nullptr, stream_, nullptr));
    EXPECT_ACL_OK(rtDevBinaryUnRegister(all));
}

TEST_F(LowerRegisteredCpu, TwoObjectsWithTheSameNamesStayApart) {
    void* other = nullptr;
    ASSERT_ACL_OK(register_object(bytes_of(CANOPY_TEST_CPU_1), &other));
    ASSERT_ACL_OK(rtFunctionRegister(registered_, &stub_one, "second", "variant", 0));
    ASSERT_ACL_OK(rtFunctionRegister(other, &stub_two, "first", "variant", 0));
    for (int round = 0; round < 5; ++round) {
        EXPECT_ACL_OK(launch_stub(&stub_one, Write{words_, 0}, stream_));
        EXPECT_EQ(first_word(), 2u);
        EXPECT_ACL_OK(launch_stub(&stub_two, Write{words_, 0}, stream_));
        EXPECT_EQ(first_word(), 1u);
    }
    EXPECT_ACL_OK(rtDevBinaryUnRegister(other));
    EXPECT_EQ(launch_stub(&stub_two, Write{words_, 0}, stream_), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_ACL_OK(launch_stub(&stub_one, Write{words_, 0}, stream_));
    EXPECT_EQ(first_word(), 2u);
}

TEST_F(LowerRegisteredCpu, BlocksOfALaunchMeet) {
    stub(&stub_one, "meet_others");
    struct {
        std::uint64_t *arrived, *seen;
    } meeting = {words_, words_ + 1};
    EXPECT_ACL_OK(launch_stub(&stub_one, meeting, stream_, 4));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_EQ(read_back(words_, 6), (std::vector<std::uint64_t>{4, 1, 1, 1, 1, 0}));
}

TEST_F(LowerRegisteredCpu, BlocksMayPointIntoThemselvesOrLieInDeviceMemory) {
    stub(&stub_one, "follow_pointers");
    std::uint64_t slots[5] = {reinterpret_cast<std::uint64_t>(words_), 0, 0, 111, 222};
    rtHostInputInfo_t pointer = {8, 24};
    rtArgsEx_t block = {};
    block.args = slots;
    block.argsSize = sizeof slots;
    block.hostInputInfoPtr = &pointer;
    block.hostInputInfoNum = 1;
    block.hasTiling = 1;
    block.tilingAddrOffset = 16;
    block.tilingDataOffset = 32;
    EXPECT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_one, 1, &block, nullptr, stream_, 0, nullptr));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_EQ(read_back(words_, 4), (std::vector<std::uint64_t>{111, 222, 24, 32}));

    stub(&stub_two, "write_value");
    rtArgsEx_t device = {};
    device.args = device_array(std::vector<Write>{{words_, 31}});
    device.argsSize = sizeof(Write);
    device.isNoNeedH2DCopy = 1;
    EXPECT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_two, 1, &device, nullptr, stream_, 0, nullptr));
    EXPECT_EQ(first_word(), 31u);
}

TEST_F(LowerRegisteredCpu, WhatGoesWrongIsReportedLikeThatOfOtherCpuKernels) {
    stub(&stub_one, "return_value");
    stub(&stub_two, "throw_exception");
    stub(&stub_three, "write_value");
    EXPECT_ACL_OK(launch_stub(&stub_one, std::uint64_t{7}, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_EXCEPTION, "return_value", rtStreamSynchronize(stream_));
    EXPECT_ACL_OK(launch_stub(&stub_two, std::uint64_t{0}, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_EXCEPTION, "out of cheese", rtStreamSynchronize(stream_));
    EXPECT_ACL_OK(launch_stub(&stub_three, Write{words_, 5}, stream_));
    EXPECT_EQ(first_word(), 5u);
}

TEST_F(LowerRegisteredCpu, WrongObjectsAndFunctionsAreRefused) {
    void* none = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "ELF", register_object("this is no shared object", &none));
    EXPECT_EQ(register_object(bytes_of(CANOPY_TEST_CPU_1).substr(0, 100), &none), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(register_object("{\"Op\": {}}", &none), ACL_ERROR_RT_PARAM_INVALID);  // descriptors are loaded from files
    const std::string object = bytes_of(CANOPY_TEST_CPU_1);
    for (const std::uint32_t magic : {RT_DEV_BINARY_MAGIC_ELF, RT_DEV_BINARY_MAGIC_PLAIN_AICPU}) {
        const rtDevBinary_t binary = {magic, 0, object.data(), object.size()};
        EXPECT_EQ(rtDevBinaryRegister(&binary, &none), ACL_ERROR_RT_PARAM_INVALID) << magic;
    }
    for (const char* name : {"no_such_function", "not_a_function", "sched_yield"})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, name, rtFunctionRegister(registered_, &stub_one, "none", name, 0));
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "no shared object",
        rtFunctionRegister(loaded_file(folder_.write("d.json", "{}"), 0), &stub_one, "none", "write_value", 0));
    EXPECT_EQ(none, nullptr);
}

TEST_F(LowerRegisteredCpu, AnObjectThatDoesNotLoadIsRefusedByTheLaunch) {
    void* unresolved = nullptr;
    ASSERT_ACL_OK(register_object(bytes_of(CANOPY_TEST_CPU_UNRESOLVED), &unresolved));
    stub(&stub_one, "write_value", unresolved);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "function_that_nobody_defines",
                     launch_stub(&stub_one, Write{words_, 1}, stream_));
    EXPECT_ACL_OK(rtDevBinaryUnRegister(unresolved));
}

TEST_F(LowerRegisteredCpu, TheHandleIsOneOfTheUpperInterfaceToo) {
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtRegisterCpuFunc(registered_, "write_value", "Write", &function));
    EXPECT_EQ(written_by(function, 12), 12u);
    // A binary loaded through the upper interface can get stubs too.
    aclrtBinHandle loaded = nullptr;
    ASSERT_ACL_OK(load_data(bytes_of(CANOPY_TEST_CPU_1), 2, &loaded));
    ASSERT_ACL_OK(rtFunctionRegister(loaded, &stub_one, "one", "variant", 0));
    EXPECT_ACL_OK(launch_stub(&stub_one, Write{words_, 0}, stream_));
    EXPECT_EQ(first_word(), 1u);
    EXPECT_ACL_OK(rtDevBinaryUnRegister(loaded));
    EXPECT_EQ(rtQueryFunctionRegistered("one"), ACL_ERROR_RT_KERNEL_LOOKUP);
}

TEST_F(LowerRegisteredCpu, UnregisteringForgetsStubsButLetsQueuedLaunchesRun) {
    stub(&stub_one, "write_value");
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(launch_stub(&stub_one, Write{words_, 9}, stream_));
    ASSERT_ACL_OK(rtDevBinaryUnRegister(registered_));
    EXPECT_EQ(rtQueryFunctionRegistered("write_value"), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_EQ(launch_stub(&stub_one, Write{words_, 9}, stream_), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_EQ(rtDevBinaryUnRegister(registered_), ACL_ERROR_RT_INVALID_HANDLE);
    registered_ = nullptr;
    gate.open();
    EXPECT_EQ(first_word(), 9u);
}

class LowerRegisteredCpuBefore : public testing::Test {};

TEST_F(LowerRegisteredCpuBefore, RegistrationsOutliveTheRuntime) {
    if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
    void* handle = nullptr;
    ASSERT_ACL_OK(register_object(bytes_of(CANOPY_TEST_CPU_1), &handle));  // as static constructors do
    ASSERT_ACL_OK(rtFunctionRegister(handle, &stub_one, "one", "count_calls", 0));
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclInit(nullptr));
        struct {
            std::uint64_t *to, value;
        } block = {nullptr, 0};
        EXPECT_EQ(rtKernelLaunch(&stub_one, 1, &block, sizeof block, nullptr, nullptr), ACL_ERROR_RT_CONTEXT_NULL);
        ASSERT_ACL_OK(rtSetDevice(round % 2));
        ASSERT_ACL_OK(rtMalloc(reinterpret_cast<void**>(&block.to), 8, RT_MEMORY_HBM, 0));
        for (std::uint64_t call = 1; call <= 2; ++call) {
            std::uint64_t calls = 0;
            ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &block, sizeof block, nullptr, nullptr));
            ASSERT_ACL_OK(rtStreamSynchronize(nullptr));
            ASSERT_ACL_OK(rtMemcpy(&calls, 8, block.to, 8, RT_MEMCPY_DEVICE_TO_HOST));
            EXPECT_EQ(calls, call) << "the object is loaded anew in round " << round;
        }
        ASSERT_ACL_OK(rtFree(block.to));
        ASSERT_ACL_OK(rtDeviceReset(round % 2));
        ASSERT_ACL_OK(aclFinalize());
    }
    EXPECT_ACL_OK(rtDevBinaryUnRegister(handle));
}

}  // namespace
}  // namespace conformance
