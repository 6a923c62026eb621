// SPDX-License-Identifier: Apache-2.0
// The ways to launch a kernel, and the launch attributes.
#include <numeric>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class Launch : public KernelTest {
protected:
    aclrtLaunchKernelCfg* config(std::vector<aclrtLaunchKernelAttr> attributes) {
        attributes_ = std::move(attributes);
        config_ = {attributes_.data(), attributes_.size()};
        return &config_;
    }
    static aclrtLaunchKernelAttr attribute(aclrtLaunchKernelAttrId id) {
        aclrtLaunchKernelAttr one = {};
        one.id = id;
        return one;
    }
    static aclrtLaunchKernelAttr timeout_us(uint64_t microseconds) {
        aclrtLaunchKernelAttr one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US);
        one.value.timeoutUs.timeoutLow = static_cast<uint32_t>(microseconds);
        one.value.timeoutUs.timeoutHigh = static_cast<uint32_t>(microseconds >> 32);
        return one;
    }
    static aclrtLaunchKernelAttr timeout_seconds(uint16_t seconds) {
        aclrtLaunchKernelAttr one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT);
        one.value.timeout = seconds;
        return one;
    }
    aclError launch_configured(const char* name, uint32_t blocks, aclrtLaunchKernelCfg* cfg, void* pointer) {
        return aclrtLaunchKernelWithHostArgs(function(name), blocks, stream_, cfg, &pointer, 8, nullptr, 0);
    }

private:
    std::vector<aclrtLaunchKernelAttr> attributes_;
    aclrtLaunchKernelCfg config_ = {};
};

TEST_F(Launch, NullAndZeroArgumentsAreRefused) {
    aclrtFuncHandle increment = function("increment");
    void* memory = device_memory(64);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsData", aclrtLaunchKernel(increment, 1, nullptr, 8, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsData",
                     aclrtLaunchKernelV2(increment, 1, nullptr, 8, nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "hostArgs",
                     aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, nullptr, 8, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "args",
                     aclrtLaunchKernelWithArgsArray(increment, 1, stream_, nullptr, nullptr));
    void* none[] = {nullptr};
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "args[0]",
                     aclrtLaunchKernelWithArgsArray(increment, 1, stream_, nullptr, none));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsSize", aclrtLaunchKernel(increment, 1, memory, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsSize",
                     aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &memory, 0, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks", aclrtLaunchKernel(increment, 0, memory, 8, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks",
                     aclrtLaunchKernelWithHostArgs(increment, 0, stream_, nullptr, &memory, 8, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks",
                     aclrtLaunchKernelWithArgsArray(increment, 0, stream_, nullptr, &memory));
    EXPECT_EQ(aclrtLaunchKernelWithHostArgs(increment, UINT32_MAX, stream_, nullptr, &memory, 8, nullptr, 0),
              ACL_ERROR_RT_PARAM_INVALID);
    aclrtArgsHandle list = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(increment, &list));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks",
                     aclrtLaunchKernelWithConfig(increment, 0, stream_, nullptr, list, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserve",
                     aclrtLaunchKernelWithConfig(increment, 1, stream_, nullptr, list, &list));
    EXPECT_EQ(aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &memory, size_t{1} << 40, nullptr, 0),
              ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Launch, FewerBytesThanTheParametersNeedAreRefused) {
    uint64_t slots[8] = {};
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "argsSize",
        aclrtLaunchKernelWithHostArgs(function("mixed_arguments"), 1, stream_, nullptr, slots, 39, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsSize",
                     aclrtLaunchKernel(function("mixed_arguments"), 1, device_memory(64), 32, stream_));
}

// ---- launch functions -----------------------------------------------------------------------------------------------

TEST_F(Launch, TakesArgumentsFromTheHostAndCopiesThem) {
    auto* out = device_array<double>({0});
    Gate gate;
    gate.hold(stream_);
    struct Arguments {
        double* out;
        uint64_t a;
        int64_t b;
        union {
            float value;
            uint64_t slot;
        } c;
        int64_t d;
    } arguments = {out, 7, -300, {}, int64_t{1} << 40};
    arguments.c.slot = 0;
    arguments.c.value = 0.5f;
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("mixed_arguments"), 1, stream_, nullptr, &arguments,
                                                sizeof(arguments), nullptr, 0));
    std::memset(&arguments, 0xFF, sizeof(arguments));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 7 - 300 + 0.5 + 1099511627776.0);
}

TEST_F(Launch, TakesArgumentsThatLieAsInAStructure) {
    auto* out = device_array<double>({0});
    struct Arguments {
        double* out;
        alignas(4) uint8_t a;
        alignas(4) int16_t b;
        float c;
        int64_t d;
    } arguments = {out, 9, -2, 0.125f, 1000};
    static_assert(sizeof(arguments) == 32);
    aclrtFuncHandle mixed = function("mixed_arguments");
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(mixed, 1, stream_, nullptr, &arguments, 32, nullptr, 0));
    std::memset(&arguments, 0xFF, sizeof(arguments));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 9 - 2 + 0.125 + 1000);

    auto* quotient = device_array<int32_t>({0});
    struct [[gnu::packed]] {
        int32_t* out;
        int32_t a, b;
    } division = {quotient, 84, -2};
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("divide"), 1, stream_, nullptr, &division, 16, nullptr, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(quotient, 1)[0], -42);
}

TEST_F(Launch, StructuresOfAnotherSizeAreRefused) {
    uint64_t slots[8] = {};
    for (const size_t size : {8, 12, 15, 17, 23})
        EXPECT_ACL_FAILS(
            ACL_ERROR_RT_PARAM_INVALID, "is less than the 24 bytes of kernel divide's parameters",
            aclrtLaunchKernelWithHostArgs(function("divide"), 1, stream_, nullptr, slots, size, nullptr, 0));
    // Also refused with a placeholder, whose data follows the parameters.
    aclrtPlaceHolderInfo placeholder = {0, 8};
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "is less than the 24",
        aclrtLaunchKernelWithHostArgs(function("divide"), 1, stream_, nullptr, slots, 16, &placeholder, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "is less than the 24",
                     aclrtLaunchKernel(function("divide"), 1, device_memory(64), 16, stream_));
}

TEST_F(Launch, TakesAnArrayOfPointersToArguments) {
    auto* out = device_array<double>({0});
    uint8_t a = 200;
    int16_t b = -1;
    float c = 0.25f;
    int64_t d = -50;
    void* arguments[] = {&out, &a, &b, &c, &d};
    ASSERT_ACL_OK(aclrtLaunchKernelWithArgsArray(function("mixed_arguments"), 1, stream_, nullptr, arguments));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 200 - 1 + 0.25 - 50);
    ASSERT_ACL_OK(aclrtLaunchKernelWithArgsArray(function("nothing"), 1, stream_, nullptr, nullptr));
    // More than fits in a small argument block.
    auto* sum = device_array<uint64_t>({0});
    std::vector<uint64_t> numbers(128);
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers[0] = reinterpret_cast<uint64_t>(sum);
    std::vector<void*> pointers;
    for (uint64_t& number : numbers) pointers.push_back(&number);
    ASSERT_ACL_OK(aclrtLaunchKernelWithArgsArray(function("sum_many"), 1, stream_, nullptr, pointers.data()));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(sum, 1)[0], 127u * 128 / 2);
}

TEST_F(Launch, TakesArgumentsThatLieOnTheDevice) {
    auto* out = device_array<uint32_t>(std::vector<uint32_t>(8, 0));
    auto* arguments = device_array<uint64_t>({reinterpret_cast<uint64_t>(out)});
    ASSERT_ACL_OK(aclrtLaunchKernel(function("identify"), 8, arguments, 8, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes())
        EXPECT_EQ(read_back(out, 8), (std::vector<uint32_t>{8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007}));
    ASSERT_ACL_OK(aclrtLaunchKernelV2(function("identify"), 1, arguments, 8, config({}), stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 1000u);
}

TEST_F(Launch, DeviceArgumentsMustLieOnTheLaunchingDevice) {
    uint64_t on_host = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "argsData",
                     aclrtLaunchKernel(function("increment"), 1, &on_host, 8, stream_));
    aclrtContext home = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&home));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 1));
    void* far = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&far, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device 1",
                     aclrtLaunchKernel(function("increment"), 1, far, 8, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device 1",
                     aclrtLaunchKernelV2(function("increment"), 1, far, 8, nullptr, stream_));
    EXPECT_ACL_OK(aclrtFree(far));
    EXPECT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
    void* freed = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtFree(freed));
    EXPECT_EQ(aclrtLaunchKernel(function("increment"), 1, freed, 8, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Launch, PlaceholdersPointIntoTheArgumentBlock) {
    auto* out = device_array<uint64_t>({0});
    struct Block {
        uint64_t* out;
        void* bytes;
        uint64_t count;
        uint8_t data[256];
    } block = {out, nullptr, 256, {}};
    std::iota(block.data, block.data + 256, 0);
    aclrtPlaceHolderInfo placeholder = {offsetof(Block, bytes), offsetof(Block, data)};
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("sum_bytes"), 1, stream_, nullptr, &block, sizeof(block),
                                                &placeholder, 1));
    std::memset(block.data, 0, sizeof(block.data));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 255u * 256 / 2);
}

TEST_F(Launch, LargeArgumentBlocksArrive) {
    auto* out = device_array<uint64_t>({0});
    for (const size_t bytes : {size_t{2000}, size_t{9000}, size_t{100000}, size_t{1} << 19}) {
        std::vector<char> block(24 + bytes, 1);
        const uint64_t count = bytes;
        std::memcpy(block.data(), &out, 8);
        std::memcpy(block.data() + 16, &count, 8);
        aclrtPlaceHolderInfo placeholder = {8, 24};
        for (int i = 0; i < 5; ++i)
            ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("sum_bytes"), 1, stream_, nullptr, block.data(),
                                                        block.size(), &placeholder, 1));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], bytes);
    }
}

TEST_F(Launch, PlaceholdersOutsideTheBlockAreRefused) {
    uint64_t block[4] = {};
    aclrtFuncHandle sum = function("sum_bytes");
    const auto with = [&](uint32_t address, uint32_t data, size_t count) {
        std::vector<aclrtPlaceHolderInfo> placeholders(count, {address, data});
        return aclrtLaunchKernelWithHostArgs(sum, 1, stream_, nullptr, block, sizeof(block), placeholders.data(),
                                             count);
    };
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder", with(25, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder", with(0, 33, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder", with(UINT32_MAX, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder", with(0, UINT32_MAX, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeHolderNum", with(8, 24, 129));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "placeHolderArray",
                     aclrtLaunchKernelWithHostArgs(sum, 1, stream_, nullptr, block, sizeof(block), nullptr, 1));
}

TEST_F(Launch, EveryBlockKnowsItsNumberAndTheirCount) {
    if (!device_computes()) GTEST_SKIP();
    for (const uint32_t blocks : {1u, 2u, 3u, 8u, 47u, 48u, 49u, 200u, 1000u}) {
        auto* out = device_array(std::vector<uint32_t>(blocks, 0));
        ASSERT_ACL_OK(launch("identify", blocks, stream_, out));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        const std::vector<uint32_t> found = read_back(out, blocks);
        for (uint32_t i = 0; i < blocks; ++i) ASSERT_EQ(found[i], i + 1000 * blocks);
    }
}

TEST_F(Launch, ComputesWhatItShould) {
    if (!device_computes()) GTEST_SKIP();
    constexpr uint32_t count = 10000;
    std::vector<float> a(count), b(count);
    for (uint32_t i = 0; i < count; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(2 * i);
    }
    auto *left = device_array(a), *right = device_array(b), *out = device_array(std::vector<float>(count, 0.0f));
    for (const uint32_t blocks : {1u, 7u, 48u}) {
        ASSERT_ACL_OK(aclrtMemset(out, count * 4, 0, count * 4));
        ASSERT_ACL_OK(launch("add", blocks, stream_, left, right, out, count));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        const std::vector<float> found = read_back(out, count);
        for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(found[i], static_cast<float>(3 * i));
    }
}

TEST_F(Launch, KindsOfCoresMixInOneStreamAndStayInOrder) {
    if (!device_computes()) GTEST_SKIP();
    auto* counter = device_array<uint32_t>({0});
    for (int i = 0; i < 20; ++i) {
        ASSERT_ACL_OK(launch("on_both_cores", 10, stream_, counter));
        ASSERT_ACL_OK(launch("all_at_once", 48, stream_, counter));
        ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 20u * (10 * 3 + 48 + 1));  // one cube core and two vector cores per block
}

TEST_F(Launch, LastTaskNumberOfTheThreadGrows) {
    uint32_t first = 0, second = 0;
    ASSERT_ACL_OK(launch("nothing", 1, stream_));
    ASSERT_ACL_OK(aclrtGetThreadLastTaskId(&first));
    ASSERT_ACL_OK(launch("nothing", 1, stream_));
    ASSERT_ACL_OK(aclrtGetThreadLastTaskId(&second));
    EXPECT_EQ(second, first + 1);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "taskId", aclrtGetThreadLastTaskId(nullptr));
}

// ---- attributes ----------------------------------------------------------------------------------------------------

TEST_F(Launch, BlockOffsetShiftsTheNumbers) {
    auto* out = device_array(std::vector<uint32_t>(8, 0));
    aclrtLaunchKernelAttr offset = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET);
    offset.value.blockDimOffset = 5;
    ASSERT_ACL_OK(launch_configured("identify", 3, config({offset}), out));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 8), (std::vector<uint32_t>{0, 0, 0, 0, 0, 3005, 3006, 3007}));
    ASSERT_ACL_OK(launch_configured("identify", 1, config({offset}), out));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 8)[5], 1005u);
}

TEST_F(Launch, AttributesAreAcceptedByEveryFunctionThatTakesThem) {
    std::vector<aclrtLaunchKernelAttr> all;
    aclrtLaunchKernelAttr one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    one.value.schemMode = 1;
    all.push_back(one);
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE);
    one.value.dynUBufSize = 1024;
    all.push_back(one);
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    one.value.engineType = ACL_RT_ENGINE_TYPE_AIV;
    all.push_back(one);
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH);
    all.push_back(one);
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP);
    all.push_back(one);
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING);
    all.push_back(one);
    all.push_back(timeout_seconds(100));
    auto* counter = device_array<uint32_t>({0});
    aclrtFuncHandle func = function("all_at_once");
    auto* on_device = device_array<uint64_t>({reinterpret_cast<uint64_t>(counter)});
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle parameter = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(func, &list));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &counter, 8, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    void* pointers[] = {&counter};
    aclrtLaunchKernelCfg* cfg = config(all);
    EXPECT_ACL_OK(aclrtLaunchKernelV2(func, 4, on_device, 8, cfg, stream_));
    EXPECT_ACL_OK(aclrtLaunchKernelWithConfig(func, 4, stream_, cfg, list, nullptr));
    EXPECT_ACL_OK(aclrtLaunchKernelWithHostArgs(func, 4, stream_, cfg, &counter, 8, nullptr, 0));
    EXPECT_ACL_OK(aclrtLaunchKernelWithArgsArray(func, 4, stream_, cfg, pointers));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 16u);
}

TEST_F(Launch, AttributesThatMeanNothingAreRefused) {
    void* counter = device_memory(64);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "one timeout",
                     launch_configured("increment", 1, config({timeout_seconds(1), timeout_us(5)}), counter));
    aclrtLaunchKernelAttr one = attribute(static_cast<aclrtLaunchKernelAttrId>(99));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "99", launch_configured("increment", 1, config({one}), counter));
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    one.value.schemMode = 2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "schemMode",
                     launch_configured("increment", 1, config({one}), counter));
    one = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    one.value.engineType = static_cast<aclrtEngineType>(7);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "engineType",
                     launch_configured("increment", 1, config({one}), counter));
    aclrtLaunchKernelCfg broken = {nullptr, 1};
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrs", launch_configured("increment", 1, &broken, counter));
}

TEST_F(Launch, DynamicMemoryIsCheckedAgainstTheChipByEveryLaunch) {
    auto* counter = device_array<uint32_t>({0});
    aclrtFuncHandle func = function("increment");
    auto* on_device = device_array<uint64_t>({reinterpret_cast<uint64_t>(counter)});
    void* pointers[] = {&counter};
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle parameter = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(func, &list));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &counter, 8, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    aclrtLaunchKernelAttr size = attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE);
    size.value.dynUBufSize = 16u << 20;
    aclrtLaunchKernelCfg* cfg = config({size});
    constexpr int refused = ACL_ERROR_RT_PARAM_INVALID;
    constexpr const char* why = "16777216 bytes of dynamic memory";
    EXPECT_ACL_FAILS(refused, why, aclrtLaunchKernelV2(func, 1, on_device, 8, cfg, stream_));
    EXPECT_ACL_FAILS(refused, why, aclrtLaunchKernelWithConfig(func, 1, stream_, cfg, list, nullptr));
    EXPECT_ACL_FAILS(refused, why, aclrtLaunchKernelWithHostArgs(func, 1, stream_, cfg, &counter, 8, nullptr, 0));
    EXPECT_ACL_FAILS(refused, why, aclrtLaunchKernelWithArgsArray(func, 1, stream_, cfg, pointers));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 0u);
}

TEST_F(Launch, TimeoutEndsAKernelThatNeverReturns) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord started;
    ASSERT_ACL_OK(launch_configured("never_return", 1, config({timeout_us(20000)}), started.device()));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "in time", aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Launch, TimeoutOfTheProcessAppliesUnlessTheLaunchHasItsOwn) {
    if (!device_computes()) GTEST_SKIP();
    uint32_t before = 0;
    ASSERT_ACL_OK(aclrtGetOpExecuteTimeout(&before));
    EXPECT_EQ(before, 1091000u);
    ASSERT_ACL_OK(aclrtSetOpExecuteTimeOutWithMs(20));
    SharedWord started, go, done;
    // A launch without a time limit outlives one with a limit.
    struct {
        uint32_t *word, *done;
    } arguments = {go.device(), done.device()};
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("wait_for_word"), 1, stream_, config({timeout_us(0)}),
                                                &arguments, sizeof(arguments), nullptr, 0));
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    ASSERT_ACL_OK(launch("never_return", 1, other, started.device()));
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
    EXPECT_TRUE(stands_still(stream_));
    go.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtDestroyStream(other));
    ASSERT_ACL_OK(aclrtSetOpExecuteTimeOut(0));  // back to the default, which is not a multiple of the interval
}

TEST_F(Launch, SimtKernelsNeedAChipThatHasThem) {
    void* memory = device_memory(64);
    EXPECT_EQ(aclrtLaunchSIMTKernelWithHostArgs(function("increment"), dim3{1, 1, 1}, dim3{1, 1, 1}, 0, stream_,
                                                nullptr, &memory, 8, nullptr, 0),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    void* pointers[] = {&memory};
    EXPECT_EQ(aclrtLaunchSIMTKernelWithArgsArray(function("increment"), dim3{1, 1, 1}, dim3{1, 1, 1}, 0, stream_,
                                                 nullptr, pointers),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtLaunchSIMTKernelWithArgsArray(nullptr, dim3{1, 1, 1}, dim3{1, 1, 1}, 0, stream_, nullptr, pointers),
              ACL_ERROR_INVALID_PARAM);
}

TEST_F(Launch, CoreLimitsDoNotCutBlocks) {
    ASSERT_ACL_OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    uint32_t limit = 0;
    ASSERT_ACL_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &limit));
    EXPECT_EQ(limit, 8u);
    auto* total = device_array<uint64_t>({0});
    ASSERT_ACL_OK(launch("add_atomically", limit, stream_, total, uint64_t{1}));
    ASSERT_ACL_OK(launch("add_atomically", 40, stream_, total, uint64_t{1}));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], 48u);
    ASSERT_ACL_OK(aclrtResetDeviceResLimit(0));
}

}  // namespace
}  // namespace conformance
