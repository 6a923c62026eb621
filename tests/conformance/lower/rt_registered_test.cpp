// SPDX-License-Identifier: Apache-2.0
// The lower interface: binaries registered by the program, stubs, launches by stub and by key.
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "runtime/rt.h"

namespace conformance {
namespace {

std::vector<char> image_bytes() {
    std::ifstream file(CANOPY_TEST_KERNELS, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Their addresses identify kernels.
const int stub_one = 1, stub_two = 2;

class LowerRegistered : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        {
            const std::vector<char> bytes = image_bytes();
            const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF_AIVEC, 0, bytes.data(), bytes.size()};
            ASSERT_ACL_OK(rtDevBinaryRegister(&binary, &handle_));
        }  // the runtime has copied the bytes
        out_ = device_array(std::vector<uint32_t>(16, 0));
    }
    void TearDown() override {
        if (handle_) EXPECT_ACL_OK(rtDevBinaryUnRegister(handle_));
        DeviceTest::TearDown();
    }
    void expect(std::vector<uint32_t> expected) {
        ASSERT_ACL_OK(rtStreamSynchronize(stream_));
        if (device_computes()) EXPECT_EQ(read_back(out_, expected.size()), expected);
    }
    rtArgsEx_t block_of_out() {
        rtArgsEx_t block = {};
        block.args = &out_;
        block.argsSize = sizeof(out_);
        return block;
    }

    void* handle_ = nullptr;
    uint32_t* out_ = nullptr;
};

TEST_F(LowerRegistered, StubsLaunchTheirKernels) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_two, "two", "identify", 0));
    ASSERT_ACL_OK(rtKernelLaunch(&stub_two, 3, &out_, 8, nullptr, stream_));
    ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &out_, 8, nullptr, stream_));
    ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &out_, 8, nullptr, stream_));
    expect({3002, 3001, 3002, 0});
}

TEST_F(LowerRegistered, ArgumentsAreCopiedByTheLaunch) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    Gate gate;
    gate.hold(stream_);
    {
        uint64_t slot = reinterpret_cast<uint64_t>(out_);
        ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &slot, 8, nullptr, stream_));
        slot = 16;
    }
    gate.open();
    expect({1, 0});
}

TEST_F(LowerRegistered, StubsAreFoundByTheirNames) {
    void* stub = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_KERNEL_LOOKUP, "one", rtGetFunctionByName("one", &stub));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_KERNEL_LOOKUP, "one", rtQueryFunctionRegistered("one"));
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    EXPECT_ACL_OK(rtGetFunctionByName("one", &stub));
    EXPECT_EQ(stub, &stub_one);
    EXPECT_ACL_OK(rtQueryFunctionRegistered("one"));
    EXPECT_EQ(rtQueryFunctionRegistered("increment"),
              ACL_ERROR_RT_KERNEL_LOOKUP);  // the stub's name is required, not the kernel's
}

TEST_F(LowerRegistered, TwiceIsRefused) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_KERNEL_DUPLICATE, "increment",
                     rtFunctionRegister(handle_, &stub_one, "two", "identify", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_KERNEL_DUPLICATE, "one",
                     rtFunctionRegister(handle_, &stub_two, "one", "identify", 0));
    EXPECT_EQ(rtQueryFunctionRegistered("two"), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_ACL_OK(rtFunctionRegister(handle_, &stub_two, "two", "increment", 0));  // one kernel may have two stubs
}

TEST_F(LowerRegistered, WrongBinariesAreRefused) {
    const std::vector<char> bytes = image_bytes();
    void* handle = nullptr;
    for (const auto call : {&rtDevBinaryRegister, &rtRegisterAllKernel}) {
        rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF, 0, bytes.data(), bytes.size()};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "bin", call(nullptr, &handle));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hdl", call(&binary, nullptr));
        binary.data = nullptr;
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "bin->data", call(&binary, &handle));
        binary = {RT_DEV_BINARY_MAGIC_ELF, 0, bytes.data(), 0};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "bin->length", call(&binary, &handle));
        binary = {RT_DEV_BINARY_MAGIC_ELF, 0, bytes.data(), 64};
        EXPECT_EQ(call(&binary, &handle), ACL_ERROR_RT_PARAM_INVALID);
        binary = {4711, 0, bytes.data(), bytes.size()};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "magic", call(&binary, &handle));
    }
}

TEST_F(LowerRegistered, WrongStubsAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binHandle",
                     rtFunctionRegister(nullptr, &stub_one, "one", "increment", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubFunc",
                     rtFunctionRegister(handle_, nullptr, "one", "increment", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubName",
                     rtFunctionRegister(handle_, &stub_one, nullptr, "increment", 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernelInfoExt",
                     rtFunctionRegister(handle_, &stub_one, "one", nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "increment",
                     rtFunctionRegister(handle_, &stub_one, "one", "colour", 0));
    EXPECT_EQ(rtFunctionRegister(stream_, &stub_one, "one", "increment", 0), ACL_ERROR_RT_INVALID_HANDLE);
    void* stub = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubName", rtGetFunctionByName(nullptr, &stub));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubFunc", rtGetFunctionByName("one", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubName", rtQueryFunctionRegistered(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hdl", rtDevBinaryUnRegister(nullptr));
    EXPECT_EQ(rtDevBinaryUnRegister(stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerRegistered, WrongLaunchesAreRefused) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    rtArgsEx_t block = block_of_out();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_KERNEL_LOOKUP, "rtFunctionRegister",
                     rtKernelLaunch(&stub_two, 1, &out_, 8, nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubFunc", rtKernelLaunch(nullptr, 1, &out_, 8, nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "args", rtKernelLaunch(&stub_one, 1, nullptr, 8, nullptr, stream_));
    EXPECT_EQ(rtKernelLaunch(&stub_one, 0, &out_, 8, nullptr, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtKernelLaunch(&stub_one, 1, &out_, 0, nullptr, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtKernelLaunch(&stub_one, 1, &out_, 8, nullptr, handle_), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stubFunc",
                     rtKernelLaunchWithFlagV2(nullptr, 1, &block, nullptr, stream_, 0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsInfo",
                     rtKernelLaunchWithFlagV2(&stub_one, 1, nullptr, nullptr, stream_, 0, nullptr));
    EXPECT_EQ(rtKernelLaunchWithFlagV2(&stub_two, 1, &block, nullptr, stream_, 0, nullptr), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hdl",
                     rtKernelLaunchWithHandleV2(nullptr, 3, 1, &block, nullptr, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsInfo",
                     rtKernelLaunchWithHandleV2(handle_, 3, 1, nullptr, nullptr, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "4711",
                     rtKernelLaunchWithHandleV2(handle_, 4711, 1, &block, nullptr, stream_, nullptr));
    EXPECT_EQ(rtKernelLaunchWithHandleV2(stream_, 3, 1, &block, nullptr, stream_, nullptr),
              ACL_ERROR_RT_INVALID_HANDLE);
    block.hostInputInfoNum = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hostInputInfoPtr",
                     rtKernelLaunchWithHandleV2(handle_, 3, 1, &block, nullptr, stream_, nullptr));
    block.args = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsInfo->args",
                     rtKernelLaunchWithHandleV2(handle_, 3, 1, &block, nullptr, stream_, nullptr));
    expect({0});
}

TEST_F(LowerRegistered, KeysLaunchTheKernelsWhoseNamesEndInThem) {
    const std::vector<char> bytes = image_bytes();
    const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF, 0, bytes.data(), bytes.size()};
    void* all = nullptr;
    ASSERT_ACL_OK(rtRegisterAllKernel(&binary, &all));
    rtArgsEx_t block = block_of_out();
    for (int i = 0; i < 3; ++i)
        ASSERT_ACL_OK(rtKernelLaunchWithHandleV2(all, 13, 2, &block, nullptr, stream_, nullptr));
    ASSERT_ACL_OK(rtKernelLaunchWithHandleV2(all, 3, 1, &block, nullptr, stream_, nullptr));
    expect({42, 39, 0});
    rtTaskCfgInfo_t task = {};
    task.blockDimOffset = 4;
    task.schemMode = 1;
    task.neverTimeout = 1;
    ASSERT_ACL_OK(rtKernelLaunchWithHandleV2(all, 13, 2, &block, nullptr, stream_, &task));
    expect({42, 39, 0, 0, 13, 13, 0});
    task.schemMode = 9;
    EXPECT_EQ(rtKernelLaunchWithHandleV2(all, 13, 2, &block, nullptr, stream_, &task), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_OK(rtDevBinaryUnRegister(all));
    EXPECT_EQ(rtKernelLaunchWithHandleV2(all, 3, 1, &block, nullptr, stream_, nullptr), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerRegistered, BlocksMayPointIntoThemselves) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "sum_bytes", 0));
    uint64_t slots[4] = {reinterpret_cast<uint64_t>(out_), 0, 4, 0x04030201};
    rtHostInputInfo_t pointer = {8, 24};
    rtArgsEx_t block = {};
    block.args = slots;
    block.argsSize = sizeof(slots);
    block.hostInputInfoPtr = &pointer;
    block.hostInputInfoNum = 1;
    ASSERT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_one, 1, &block, nullptr, stream_, RT_KERNEL_DEFAULT, nullptr));
    expect({10, 0});
    slots[3] = 0x05050505;
    block.hostInputInfoPtr = nullptr;
    block.hostInputInfoNum = 0;
    block.hasTiling = 1;
    block.tilingAddrOffset = 8;
    block.tilingDataOffset = 24;
    ASSERT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_one, 1, &block, nullptr, stream_, RT_KERNEL_DEFAULT, nullptr));
    expect({20, 0});
}

TEST_F(LowerRegistered, BlocksMayLieInDeviceMemory) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    rtArgsEx_t block = {};
    block.args = device_array(std::vector<uint64_t>{reinterpret_cast<uint64_t>(out_)});
    block.argsSize = 8;
    block.isNoNeedH2DCopy = 1;
    ASSERT_ACL_OK(rtKernelLaunchWithFlagV2(&stub_one, 1, &block, nullptr, stream_, RT_KERNEL_DEFAULT, nullptr));
    expect({1});
}

TEST_F(LowerRegistered, UnregisteringForgetsStubsButLetsQueuedLaunchesRun) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "increment", 0));
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &out_, 8, nullptr, stream_));
    ASSERT_ACL_OK(rtDevBinaryUnRegister(handle_));
    EXPECT_EQ(rtQueryFunctionRegistered("one"), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_EQ(rtKernelLaunch(&stub_one, 1, &out_, 8, nullptr, stream_), ACL_ERROR_RT_KERNEL_LOOKUP);
    EXPECT_EQ(rtDevBinaryUnRegister(handle_), ACL_ERROR_RT_INVALID_HANDLE);
    handle_ = nullptr;
    gate.open();
    expect({1});
}

TEST_F(LowerRegistered, ABinaryLoadedInAnotherWayMayGetStubsToo) {
    aclrtBinHandle loaded = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &loaded));
    ASSERT_ACL_OK(rtFunctionRegister(loaded, &stub_two, "two", "increment", 0));
    ASSERT_ACL_OK(rtKernelLaunch(&stub_two, 1, &out_, 8, nullptr, stream_));
    expect({1});
    EXPECT_ACL_OK(rtDevBinaryUnRegister(loaded));
    EXPECT_EQ(aclrtBinaryUnLoad(loaded), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(rtQueryFunctionRegistered("two"), ACL_ERROR_RT_KERNEL_LOOKUP);
}

TEST_F(LowerRegistered, ManyThreadsLaunchOneStub) {
    ASSERT_ACL_OK(rtFunctionRegister(handle_, &stub_one, "one", "add_atomically", 0));
    constexpr int count = 4, launches = 200;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([this] {
            EXPECT_ACL_OK(rtSetDevice(0));
            rtStream_t stream = nullptr;
            EXPECT_ACL_OK(rtStreamCreate(&stream, 0));
            uint64_t slots[2] = {reinterpret_cast<uint64_t>(out_), 1};
            for (int n = 0; n < launches; ++n)
                EXPECT_ACL_OK(rtKernelLaunch(&stub_one, 1, slots, sizeof(slots), nullptr, stream));
            EXPECT_ACL_OK(rtStreamSynchronize(stream));
            EXPECT_ACL_OK(rtStreamDestroy(stream));
            EXPECT_ACL_OK(rtDeviceReset(0));
        });
    }
    for (std::thread& thread : threads) thread.join();
    expect({count * launches, 0});
}

class LowerRegisteredBefore : public testing::Test {};

TEST_F(LowerRegisteredBefore, RegistrationsOutliveTheRuntime) {
    const std::vector<char> bytes = image_bytes();
    const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF, 0, bytes.data(), bytes.size()};
    void* handle = nullptr;
    ASSERT_ACL_OK(rtDevBinaryRegister(&binary, &handle));  // as static constructors do
    ASSERT_ACL_OK(rtFunctionRegister(handle, &stub_one, "one", "increment", 0));
    for (uint32_t round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclInit(nullptr));
        uint32_t* counter = nullptr;
        uint32_t value = round;
        EXPECT_EQ(rtKernelLaunch(&stub_one, 1, &counter, 8, nullptr, nullptr), ACL_ERROR_RT_CONTEXT_NULL);
        ASSERT_ACL_OK(rtSetDevice(0));
        ASSERT_ACL_OK(rtMalloc(reinterpret_cast<void**>(&counter), 4, RT_MEMORY_HBM, 0));
        ASSERT_ACL_OK(rtMemcpy(counter, 4, &value, 4, RT_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL_OK(rtKernelLaunch(&stub_one, 1, &counter, 8, nullptr, nullptr));
        ASSERT_ACL_OK(rtStreamSynchronize(nullptr));
        ASSERT_ACL_OK(rtMemcpy(&value, 4, counter, 4, RT_MEMCPY_DEVICE_TO_HOST));
        if (device_computes()) EXPECT_EQ(value, round + 1);
        ASSERT_ACL_OK(rtFree(counter));
        ASSERT_ACL_OK(rtDeviceReset(0));
        ASSERT_ACL_OK(aclFinalize());
    }
    EXPECT_ACL_OK(rtDevBinaryUnRegister(handle));
}

}  // namespace
}  // namespace conformance
