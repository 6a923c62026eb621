// SPDX-License-Identifier: Apache-2.0
// Images embedded in programs: registration, launches from a site, and refused launches.
#include <limits>
#include <memory>
#include <thread>

#include "fixtures/embedded.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class RegisteredImage : public DeviceTest {
protected:
    void expect_counts(Embedded& embedded) {
        auto* counter = device_array<uint32_t>({0});
        ASSERT_ACL_OK(embedded.launch("increment", 1, stream_, counter));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 1u);
    }
    static uint64_t live_binaries() {
        CanopyLiveObjects live = {};
        canopyCountLiveObjects(&live);
        return live.binaries;
    }
};

// ---- launching -----------------------------------------------------------------------------------------------------

TEST_F(RegisteredImage, LaunchesFromASite) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    expect_counts(embedded);
}

TEST_F(RegisteredImage, IsLoadedByItsFirstLaunch) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    EXPECT_EQ(live_binaries(), 0u);
    ASSERT_ACL_OK(embedded.launch("nothing", 1, stream_));
    ASSERT_ACL_OK(embedded.launch("nothing", 1, stream_));
    EXPECT_EQ(live_binaries(), 1u);
}

TEST_F(RegisteredImage, NeedNotBeRegisteredBeforeItIsLaunched) {
    Embedded embedded;
    expect_counts(embedded);
    aclrtFuncHandle function = nullptr;
    EXPECT_ACL_OK(aclrtGetFuncBySymbol(embedded.site("increment").function, &function));
}

TEST_F(RegisteredImage, RegisteringTwiceChangesNothing) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    canopyRegisterImage(&embedded.image);
    expect_counts(embedded);
    canopyUnregisterImage(&embedded.image);
    aclrtFuncHandle function = nullptr;
    EXPECT_EQ(aclrtGetFuncBySymbol(embedded.site("increment").function, &function),
              ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
}

TEST_F(RegisteredImage, NullStreamIsTheDefaultStream) {
    Embedded embedded;
    auto* counter = device_array<uint32_t>({0});
    ASSERT_ACL_OK(embedded.launch("increment", 1, nullptr, counter));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&stream));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 1u);
}

TEST_F(RegisteredImage, BlocksAreTheProductOfTheGrid) {
    Embedded embedded;
    auto* out = device_array<uint32_t>(std::vector<uint32_t>(24, 0));
    const CanopyConfiguration configuration = {{4, 3, 2}, {1, 1, 1}, 0, stream_};
    ASSERT_ACL_OK(canopyLaunch(&embedded.site("identify"), &configuration, &out, sizeof(out)));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    const std::vector<uint32_t> values = read_back(out, 24);
    for (uint32_t block = 0; block < 24; ++block) EXPECT_EQ(values[block], block + 24000);
}

TEST_F(RegisteredImage, ArgumentsAreTakenDuringTheCall) {
    Embedded embedded;
    auto* out = device_array<double>({0});
    uint64_t slots[5] = {reinterpret_cast<uint64_t>(out), 1, 2, 0, 4};
    const float third = 3;
    std::memcpy(&slots[3], &third, sizeof(third));
    const CanopyConfiguration configuration = {{1, 1, 1}, {0, 0, 0}, 0, stream_};
    ASSERT_ACL_OK(canopyLaunch(&embedded.site("mixed_arguments"), &configuration, slots, sizeof(slots)));
    std::memset(slots, 0xFF, sizeof(slots));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 10.0);
}

TEST_F(RegisteredImage, EveryDeviceLoadsItForItself) {
    Embedded embedded;
    expect_counts(embedded);
    ASSERT_ACL_OK(aclrtSetDevice(1));
    void* word = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&word, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMemset(word, 4, 0, 4));
    for (int i = 0; i < 3; ++i) ASSERT_ACL_OK(embedded.launch("increment", 1, nullptr, word));
    ASSERT_ACL_OK(aclrtSynchronizeDevice());
    uint32_t value = 0;
    ASSERT_ACL_OK(aclrtMemcpy(&value, 4, word, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    if (device_computes()) EXPECT_EQ(value, 3u);
    EXPECT_ACL_OK(aclrtFree(word));
    EXPECT_ACL_OK(aclrtResetDeviceForce(1));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    expect_counts(embedded);
    EXPECT_EQ(live_binaries(), 1u);
}

// ---- life ----------------------------------------------------------------------------------------------------------

TEST_F(RegisteredImage, SurvivesAResetOfItsDevice) {
    Embedded embedded;
    expect_counts(embedded);
    ASSERT_ACL_OK(aclrtDestroyStream(stream_));
    ASSERT_ACL_OK(aclrtResetDevice(0));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    ASSERT_ACL_OK(aclrtCreateStream(&stream_));
    expect_counts(embedded);
}

TEST(RegisteredImageLife, SurvivesFinalise) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclInit(nullptr));
        ASSERT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_OK(embedded.launch("nothing", 4, nullptr));
        EXPECT_ACL_OK(aclrtSynchronizeDevice());
        EXPECT_ACL_OK(aclrtResetDeviceForce(0));
        ASSERT_ACL_OK(aclFinalize());
        CanopyLiveObjects live = {};
        canopyCountLiveObjects(&live);
        EXPECT_EQ(live.binaries + live.functions, 0u);
    }
}

TEST_F(RegisteredImage, IdenticalImagesDoNotMeet) {
    Embedded first;
    auto second = std::make_unique<Embedded>();
    expect_counts(first);
    expect_counts(*second);
    EXPECT_EQ(live_binaries(), 2u);
    second.reset();
    EXPECT_EQ(live_binaries(), 1u);
    expect_counts(first);
}

TEST_F(RegisteredImage, LaunchesUnderWayEndBeforeItIsUnloaded) {
    if (!device_computes()) GTEST_SKIP();
    auto* counter = device_array<uint32_t>({0});
    Gate gate;
    {
        Embedded embedded;
        gate.hold(stream_);
        for (int i = 0; i < 10; ++i) ASSERT_ACL_OK(embedded.launch("increment", 1, stream_, counter));
    }
    EXPECT_EQ(live_binaries(), 0u);
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 10u);
}

TEST_F(RegisteredImage, BinaryThatTheProgramUnloadsIsLoadedAgain) {
    Embedded embedded;
    expect_counts(embedded);
    aclrtFuncHandle function = nullptr;
    aclrtBinHandle binary = nullptr;
    ASSERT_ACL_OK(aclrtGetFuncBySymbol(embedded.site("increment").function, &function));
    ASSERT_ACL_OK(aclrtFunctionGetBinary(function, &binary));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    EXPECT_EQ(live_binaries(), 0u);
    expect_counts(embedded);
}

TEST_F(RegisteredImage, PendingLaunchesAreEachThreadsOwn) {
    CanopyPendingLaunch** mine = canopyPendingLaunch();
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(*mine, nullptr);
    EXPECT_EQ(canopyPendingLaunch(), mine);
    CanopyPendingLaunch** other = nullptr;
    std::thread([&] { other = canopyPendingLaunch(); }).join();
    EXPECT_NE(other, mine);
}

// ---- what a launch refuses -----------------------------------------------------------------------------------------

TEST_F(RegisteredImage, NullArgumentsAreRefused) {
    Embedded embedded;
    CanopyLaunchSite& site = embedded.site("increment");
    const CanopyConfiguration configuration = {{1, 1, 1}, {0, 0, 0}, 0, stream_};
    uint64_t slot = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "site", canopyLaunch(nullptr, &configuration, &slot, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "arguments", canopyLaunch(&site, &configuration, nullptr, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "called like a function", canopyLaunch(&site, nullptr, &slot, 8));
    canopyRegisterImage(nullptr);
    EXPECT_NE(recent_error().find("image"), std::string::npos);
    canopyUnregisterImage(nullptr);
    EXPECT_NE(recent_error().find("image"), std::string::npos);
}

TEST_F(RegisteredImage, BlockCountsOutOfRangeAreRefused) {
    Embedded embedded;
    CanopyLaunchSite& site = embedded.site("nothing");
    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    const uint32_t wrong[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {65536, 1, 1}, {256, 256, 1}, {most, most, most}};
    for (const auto& grid : wrong) {
        const CanopyConfiguration configuration = {{grid[0], grid[1], grid[2]}, {0, 0, 0}, 0, stream_};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks", canopyLaunch(&site, &configuration, nullptr, 0));
    }
    const CanopyConfiguration largest = {{65535, 1, 1}, {0, 0, 0}, 0, stream_};
    EXPECT_ACL_OK(canopyLaunch(&site, &largest, nullptr, 0));
}

TEST_F(RegisteredImage, ArgumentsThatAreTooShortAreRefused) {
    Embedded embedded;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "0 bytes to kernel increment",
                     embedded.launch("increment", 1, stream_));
}

TEST_F(RegisteredImage, MoreDynamicMemoryThanACoreHasIsRefused) {
    Embedded embedded;
    CanopyLaunchSite& site = embedded.site("nothing");
    for (const uint64_t size : {uint64_t{1} << 24, uint64_t{1} << 40}) {
        const CanopyConfiguration configuration = {{1, 1, 1}, {0, 0, 0}, size, stream_};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dynamic memory", canopyLaunch(&site, &configuration, nullptr, 0));
    }
    const CanopyConfiguration some = {{1, 1, 1}, {0, 0, 0}, 1024, stream_};
    EXPECT_ACL_OK(canopyLaunch(&site, &some, nullptr, 0));
}

TEST_F(RegisteredImage, ThreadsAreForSimtKernels) {
    Embedded embedded;
    CanopyLaunchSite& site = embedded.site("nothing");
    const CanopyConfiguration configuration = {{1, 1, 1}, {32, 1, 1}, 0, stream_};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not a SIMT kernel", canopyLaunch(&site, &configuration, nullptr, 0));
}

TEST_F(RegisteredImage, WrongStreamsAreRefused) {
    Embedded embedded;
    aclrtStream ended = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&ended));
    ASSERT_ACL_OK(aclrtDestroyStream(ended));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", embedded.launch("nothing", 1, ended));
    aclrtContext context = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CONTEXT, "another context", embedded.launch("nothing", 1, stream_));
    EXPECT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(context));
}

TEST_F(RegisteredImage, FailuresAreTheThreadsLastError) {
    Embedded embedded;
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(embedded.launch("nothing", 0, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RegisteredImage, ThreadWithoutADeviceIsTold) {
    Embedded embedded;
    std::thread([&] {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice", embedded.launch("nothing", 1, nullptr));
    }).join();
}

TEST(RegisteredImageLife, LaunchBeforeAnyDeviceIsTold) {
    Embedded embedded;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice", embedded.launch("nothing", 1, nullptr));
}

TEST_F(RegisteredImage, BrokenImagesAreRefusedAtEveryLaunch) {
    Embedded damaged;
    damaged.image.size /= 2;
    Embedded empty;
    empty.image.size = 0;
    Embedded newer;
    newer.image.version = CANOPY_LAUNCH_VERSION + 1;
    Embedded none;
    none.site("nothing").image = nullptr;
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_EQ(damaged.launch("nothing", 1, stream_), ACL_ERROR_RT_PARAM_INVALID);
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no kernel image", empty.launch("nothing", 1, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "launch interface", newer.launch("nothing", 1, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "no image", none.launch("nothing", 1, stream_));
    }
    recent_error();
}

TEST_F(RegisteredImage, KernelThatIsNotInTheImageIsNamed) {
    Embedded embedded;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no_such_kernel", embedded.launch("no_such_kernel", 1, stream_));
}

// ---- kernels by their host function --------------------------------------------------------------------------------

TEST_F(RegisteredImage, FunctionsTakeTheHostFunctionForAKernel) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    auto* function = const_cast<void*>(embedded.site("increment").function);
    auto* counter = device_array<uint32_t>({0});
    void* arguments[] = {&counter};
    for (int i = 0; i < 3; ++i) ASSERT_ACL_OK(aclrtLaunchKernelWithArgsArray(function, 1, stream_, nullptr, arguments));
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, 1, stream_, nullptr, &counter, 8, nullptr, 0));
    ASSERT_ACL_OK(embedded.launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 5u);
    size_t count = 0;
    EXPECT_ACL_OK(aclrtFunctionGetParamCount(function, &count));
    EXPECT_EQ(count, 1u);
}

TEST_F(RegisteredImage, FunctionBySymbolIsTheSitesOwn) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    aclrtFuncHandle first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclrtGetFuncBySymbol(embedded.site("identify").function, &first));
    ASSERT_ACL_OK(embedded.launch("identify", 1, stream_, device_memory(64)));
    ASSERT_ACL_OK(aclrtGetFuncBySymbol(embedded.site("identify").function, &second));
    EXPECT_EQ(first, second);
    char name[64] = {};
    EXPECT_ACL_OK(aclrtGetFunctionName(first, sizeof(name), name));
    EXPECT_STREQ(name, "identify");
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(RegisteredImage, UnknownHostFunctionsAreRefused) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    int no_kernel = 0;
    aclrtFuncHandle function = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "symbol", aclrtGetFuncBySymbol(&no_kernel, &function));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "function",
                     aclrtLaunchKernelWithArgsArray(&no_kernel, 1, stream_, nullptr, nullptr));
    EXPECT_EQ(aclrtGetFuncBySymbol(embedded.site("no_such_kernel").function, &function), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace
}  // namespace conformance
