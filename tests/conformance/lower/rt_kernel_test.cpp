// SPDX-License-Identifier: Apache-2.0
// The lower interface: binaries, functions, argument lists, launches, and functions that fill variables of binaries.
#include <fstream>
#include <iterator>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts.h"

namespace conformance {
namespace {

std::vector<char> image_bytes() {
    std::ifstream file(CANOPY_TEST_KERNELS, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class LowerKernel : public KernelTest {
protected:
    uint32_t* counter_ = nullptr;
    void SetUp() override {
        KernelTest::SetUp();
        counter_ = device_array(std::vector<uint32_t>{0});
    }
    void expect_count(uint32_t expected) {
        EXPECT_ACL_OK(rtStreamSynchronize(stream_));
        if (device_computes()) EXPECT_EQ(read_back(counter_, 1)[0], expected);
    }
};

TEST_F(LowerKernel, BinariesAreLoadedFromFilesAndFromMemory) {
    rtBinHandle from_file = nullptr, from_data = nullptr;
    rtFuncHandle one = nullptr, other = nullptr;
    const std::vector<char> bytes = image_bytes();
    ASSERT_ACL_OK(rtsBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &from_file));
    rtLoadBinaryOption_t option = {};
    option.optionId = RT_LOAD_BINARY_OPT_LAZY_LOAD;
    option.value.isLazyLoad = 1;
    const rtLoadBinaryConfig_t lazy = {&option, 1};
    ASSERT_ACL_OK(rtsBinaryLoadFromData(bytes.data(), bytes.size(), &lazy, &from_data));
    ASSERT_ACL_OK(rtsFuncGetByName(from_file, "increment", &one));
    ASSERT_ACL_OK(rtsFuncGetByName(from_data, "increment", &other));
    EXPECT_NE(one, other);
    for (rtFuncHandle each : {one, other})
        ASSERT_ACL_OK(rtsLaunchKernelWithHostArgs(each, 1, stream_, nullptr, &counter_, 8, nullptr, 0));
    expect_count(2);
    void* code = nullptr;
    uint32_t size = 0;
    EXPECT_ACL_OK(rtsBinaryGetDevAddress(from_file, &code, &size));
    if (device_computes()) EXPECT_TRUE(code && size > 0);
    EXPECT_ACL_OK(rtsBinaryUnload(from_file));
    EXPECT_ACL_OK(rtsBinaryUnload(from_data));
    EXPECT_EQ(rtsBinaryUnload(from_data), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(rtsLaunchKernelWithHostArgs(other, 1, stream_, nullptr, &counter_, 8, nullptr, 0),
              ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerKernel, BinariesThatAreNoneAreRefused) {
    rtBinHandle binary = nullptr;
    const std::vector<char> bytes = image_bytes();
    rtLoadBinaryOption_t option = {};
    option.optionId = RT_LOAD_BINARY_OPT_MAX;
    const rtLoadBinaryConfig_t unknown = {&option, 1};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binPath", rtsBinaryLoadFromFile(nullptr, nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "handle",
                     rtsBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "/nowhere", rtsBinaryLoadFromFile("/nowhere", nullptr, &binary));
    EXPECT_EQ(rtsBinaryLoadFromFile(CANOPY_TEST_KERNELS, &unknown, &binary), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "data", rtsBinaryLoadFromData(nullptr, 8, nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "handle", rtsBinaryLoadFromData(bytes.data(), 8, nullptr, nullptr));
    EXPECT_EQ(rtsBinaryLoadFromData(bytes.data(), 0, nullptr, &binary), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtsBinaryLoadFromData(bytes.data(), 16, nullptr, &binary), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binHandle", rtsBinaryUnload(nullptr));
    void* code = nullptr;
    uint32_t size = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binHandle", rtsBinaryGetDevAddress(nullptr, &code, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "bin", rtsBinaryGetDevAddress(binary_, nullptr, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binSize", rtsBinaryGetDevAddress(binary_, &code, nullptr));
}

TEST_F(LowerKernel, FunctionsAreFoundByNameAndByKey) {
    rtFuncHandle by_name = nullptr, by_key = nullptr;
    ASSERT_ACL_OK(rtsFuncGetByName(binary_, "add_key_3", &by_name));
    ASSERT_ACL_OK(rtsFuncGetByEntry(binary_, 3, &by_key));
    EXPECT_EQ(by_name, by_key);
    char name[32] = {};
    EXPECT_ACL_OK(rtsFuncGetName(by_key, sizeof(name), name));
    EXPECT_STREQ(name, "add_key_3");
    EXPECT_EQ(rtsFuncGetName(by_key, 9, name), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "colour", rtsFuncGetByName(binary_, "colour", &by_name));
    EXPECT_EQ(rtsFuncGetByEntry(binary_, 4711, &by_name), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtsFuncGetByName(stream_, "increment", &by_name), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binHandle", rtsFuncGetByName(nullptr, "increment", &by_name));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernelName", rtsFuncGetByName(binary_, nullptr, &by_name));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsFuncGetByName(binary_, "increment", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "binHandle", rtsFuncGetByEntry(nullptr, 3, &by_name));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsFuncGetByEntry(binary_, 3, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsFuncGetName(nullptr, 32, name));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "name", rtsFuncGetName(by_key, 32, nullptr));
    void *cube = nullptr, *vector = nullptr;
    EXPECT_ACL_OK(rtsFuncGetAddr(by_key, &cube, &vector));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsFuncGetAddr(nullptr, &cube, &vector));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aicAddr", rtsFuncGetAddr(by_key, nullptr, &vector));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aivAddr", rtsFuncGetAddr(by_key, &cube, nullptr));
}

TEST_F(LowerKernel, ArgumentListsAreMadeAppendedChangedAndLaunched) {
    rtFuncHandle sum = function("sum_bytes");
    uint64_t* out = device_array(std::vector<uint64_t>{0});
    rtArgsHandle list = nullptr;
    rtParaHandle first = nullptr, bytes = nullptr, last = nullptr;
    void* buffer = nullptr;
    uint64_t count = 2;
    ASSERT_ACL_OK(rtsKernelArgsInit(sum, &list));
    ASSERT_ACL_OK(rtsKernelArgsAppend(list, &out, sizeof(out), &first));
    ASSERT_ACL_OK(rtsKernelArgsAppendPlaceHolder(list, &bytes));
    ASSERT_ACL_OK(rtsKernelArgsAppend(list, &count, sizeof(count), &last));
    ASSERT_ACL_OK(rtsKernelArgsGetPlaceHolderBuffer(list, bytes, 4, &buffer));
    std::memcpy(buffer, "\x01\x02\x03\x04", 4);
    EXPECT_EQ(rtsLaunchKernelWithConfig(sum, 1, stream_, nullptr, list, nullptr), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_ACL_OK(rtsKernelArgsFinalize(list));
    ASSERT_ACL_OK(rtsLaunchKernelWithConfig(sum, 1, stream_, nullptr, list, nullptr));
    ASSERT_ACL_OK(rtStreamSynchronize(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 3u);
    count = 4;
    ASSERT_ACL_OK(rtsKernelArgsParaUpdate(list, last, &count, sizeof(count)));
    ASSERT_ACL_OK(rtsKernelArgsFinalize(list));
    ASSERT_ACL_OK(rtsLaunchKernelWithConfig(sum, 1, stream_, nullptr, list, nullptr));
    ASSERT_ACL_OK(rtStreamSynchronize(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 10u);
    EXPECT_EQ(rtsKernelArgsAppend(list, &count, sizeof(count), &last), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "reserve",
                     rtsLaunchKernelWithConfig(sum, 1, stream_, nullptr, list, &count));
}

TEST_F(LowerKernel, ArgumentListsLiveInMemoryOfTheProgramToo) {
    rtFuncHandle increment = function("increment");
    size_t handle_size = 0, block_size = 0;
    ASSERT_ACL_OK(rtsKernelArgsGetHandleMemSize(increment, &handle_size));
    ASSERT_ACL_OK(rtsKernelArgsGetMemSize(increment, 8, &block_size));
    std::vector<uint64_t> handle(handle_size / 8 + 1), block(block_size / 8 + 1);
    rtParaHandle pointer = nullptr;
    ASSERT_ACL_OK(rtsKernelArgsInitByUserMem(increment, handle.data(), block.data(), block_size));
    ASSERT_ACL_OK(rtsKernelArgsAppend(handle.data(), &counter_, 8, &pointer));
    ASSERT_ACL_OK(rtsKernelArgsFinalize(handle.data()));
    ASSERT_ACL_OK(rtsLaunchKernelWithConfig(increment, 1, stream_, nullptr, handle.data(), nullptr));
    expect_count(1);
}

TEST_F(LowerKernel, NullPointersOfArgumentListsAreRefused) {
    rtFuncHandle increment = function("increment");
    rtArgsHandle list = nullptr;
    rtParaHandle parameter = nullptr;
    size_t size = 0;
    void* buffer = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsKernelArgsInit(nullptr, &list));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsHandle", rtsKernelArgsInit(increment, nullptr));
    ASSERT_ACL_OK(rtsKernelArgsInit(increment, &list));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "memSize", rtsKernelArgsGetHandleMemSize(increment, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsKernelArgsGetHandleMemSize(nullptr, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "actualArgsSize", rtsKernelArgsGetMemSize(increment, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle", rtsKernelArgsGetMemSize(nullptr, 8, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "userHostMem",
                     rtsKernelArgsInitByUserMem(increment, &size, nullptr, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsHandle", rtsKernelArgsAppend(nullptr, &size, 8, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "para", rtsKernelArgsAppend(list, nullptr, 8, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paraHandle", rtsKernelArgsAppend(list, &size, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paraHandle", rtsKernelArgsAppendPlaceHolder(list, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paraHandle",
                     rtsKernelArgsGetPlaceHolderBuffer(list, nullptr, 8, &buffer));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paraHandle", rtsKernelArgsParaUpdate(list, nullptr, &size, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsHandle", rtsKernelArgsFinalize(nullptr));
    EXPECT_EQ(rtsKernelArgsFinalize(binary_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerKernel, LaunchesTakeHostAndDeviceArgumentsAndAttributes) {
    rtFuncHandle identify = function("identify");
    uint32_t* out = device_array(std::vector<uint32_t>(8, 0));
    uint64_t* in_place = device_array(std::vector<uint64_t>{reinterpret_cast<uint64_t>(out)});
    rtLaunchKernelAttr_t attribute = {};
    attribute.id = RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET;
    attribute.value.blockDimOffset = 4;
    rtKernelLaunchCfg_t config = {&attribute, 1};
    ASSERT_ACL_OK(rtsLaunchKernelWithDevArgs(identify, 2, stream_, nullptr, in_place, 8, nullptr));
    ASSERT_ACL_OK(rtsLaunchKernelWithHostArgs(identify, 2, stream_, &config, &out, 8, nullptr, 0));
    ASSERT_ACL_OK(rtStreamSynchronize(stream_));
    if (device_computes()) {
        const std::vector<uint32_t> found = read_back(out, 8);
        EXPECT_EQ(found[1], 2001u);
        EXPECT_EQ(found[5] % 1000, 5u);
        EXPECT_EQ(found[2], 0u);
    }
    uint64_t slots[4] = {reinterpret_cast<uint64_t>(in_place), 0, 3, 0x0706050403020100};
    rtPlaceHolderInfo_t pointer = {8, 24};
    ASSERT_ACL_OK(
        rtsLaunchKernelWithHostArgs(function("sum_bytes"), 1, stream_, nullptr, slots, sizeof(slots), &pointer, 1));
    ASSERT_ACL_OK(rtStreamSynchronize(stream_));
    if (device_computes()) EXPECT_EQ(read_back(in_place, 1)[0], 3u);
}

TEST_F(LowerKernel, LaunchesThatCannotBeAreRefused) {
    rtFuncHandle increment = function("increment");
    rtKernelLaunchCfg_t no_list = {nullptr, 0};
    rtLaunchKernelAttr_t both[2] = {};
    both[0].id = RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    both[1].id = RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    rtKernelLaunchCfg_t two_timeouts = {both, 2};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "funcHandle",
                     rtsLaunchKernelWithHostArgs(nullptr, 1, stream_, nullptr, &counter_, 8, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hostArgs",
                     rtsLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, nullptr, 8, nullptr, 0));
    EXPECT_EQ(rtsLaunchKernelWithHostArgs(increment, 0, stream_, nullptr, &counter_, 8, nullptr, 0),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtsLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &counter_, 0, nullptr, 0),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(rtsLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &counter_, 8, nullptr, 1),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attrs",
                     rtsLaunchKernelWithHostArgs(increment, 1, stream_, &no_list, &counter_, 8, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout",
                     rtsLaunchKernelWithHostArgs(increment, 1, stream_, &two_timeouts, &counter_, 8, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "args",
                     rtsLaunchKernelWithDevArgs(increment, 1, stream_, nullptr, nullptr, 8, nullptr));
    EXPECT_EQ(rtsLaunchKernelWithDevArgs(increment, 1, stream_, nullptr, &counter_, 8, nullptr),
              ACL_ERROR_RT_PARAM_INVALID);  // host memory
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "reserve",
                     rtsLaunchKernelWithDevArgs(increment, 1, stream_, nullptr, counter_, 8, &no_list));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsHandle",
                     rtsLaunchKernelWithConfig(increment, 1, stream_, nullptr, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "taskId", rtsGetThreadLastTaskId(nullptr));
    expect_count(0);
}

// ---- variables that are filled when a binary is loaded -------------------------------------------------------------

uint32_t found_value, found_size;
int32_t fill_with_seven(void* bytes, uint32_t size) {
    found_size = size;
    std::memcpy(&found_value, bytes, sizeof(found_value));
    const uint32_t seven = 7;
    std::memcpy(bytes, &seven, sizeof(seven));
    return 0;
}
int32_t fill_with_eight(void* bytes, uint32_t) {
    const uint32_t eight = 8;
    std::memcpy(bytes, &eight, sizeof(eight));
    return 0;
}
int32_t refuse_to_fill(void*, uint32_t) { return 77; }

class LowerFill : public LowerKernel {
protected:
    uint32_t value_in_a_new_binary() {
        rtBinHandle binary = nullptr;
        rtFuncHandle read = nullptr;
        EXPECT_ACL_OK(rtsBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
        EXPECT_ACL_OK(rtsFuncGetByName(binary, "read_global", &read));
        EXPECT_ACL_OK(rtsLaunchKernelWithHostArgs(read, 1, stream_, nullptr, &counter_, 8, nullptr, 0));
        EXPECT_ACL_OK(rtStreamSynchronize(stream_));
        EXPECT_ACL_OK(rtsBinaryUnload(binary));
        return read_back(counter_, 1)[0];
    }
};

TEST_F(LowerFill, AFunctionFillsTheVariableOfEachBinaryThatIsLoaded) {
    if (!device_computes()) GTEST_SKIP();
    EXPECT_EQ(value_in_a_new_binary(), 41u);
    ASSERT_ACL_OK(rtsRegKernelLaunchFillFunc("global_word", &fill_with_seven));
    ASSERT_ACL_OK(rtsRegKernelLaunchFillFunc("no_such_word", &refuse_to_fill));  // no binary has this variable
    EXPECT_EQ(value_in_a_new_binary(), 7u);
    EXPECT_EQ(found_size, 4u);
    EXPECT_EQ(found_value, 41u);
    ASSERT_ACL_OK(rtsRegKernelLaunchFillFunc("global_word", &fill_with_eight));
    EXPECT_EQ(value_in_a_new_binary(), 8u);
    EXPECT_ACL_OK(rtsUnRegKernelLaunchFillFunc("global_word"));
    EXPECT_ACL_OK(rtsUnRegKernelLaunchFillFunc("no_such_word"));
    EXPECT_EQ(value_in_a_new_binary(), 41u);
}

TEST_F(LowerFill, AFunctionThatRefusesKeepsTheBinaryFromBeingLoaded) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(rtsRegKernelLaunchFillFunc("global_word", &refuse_to_fill));
    rtBinHandle binary = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "77", rtsBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    EXPECT_ACL_OK(rtsUnRegKernelLaunchFillFunc("global_word"));
}

TEST_F(LowerFill, WrongArgumentsAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "symbol", rtsRegKernelLaunchFillFunc(nullptr, &refuse_to_fill));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callback", rtsRegKernelLaunchFillFunc("global_word", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "symbol", rtsUnRegKernelLaunchFillFunc(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "global_word", rtsUnRegKernelLaunchFillFunc("global_word"));
}

}  // namespace
}  // namespace conformance
