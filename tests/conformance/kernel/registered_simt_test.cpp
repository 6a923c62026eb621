// SPDX-License-Identifier: Apache-2.0
// SIMT kernels: their dimensions are checked, and reach them from every launch function.
#include <fstream>
#include <functional>
#include <iterator>

#include "canopy/launch.h"
#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

// The image of simt_kernels.cpp on a chip with SIMT cores, in a separate process.
class SimtDevice {
public:
    SimtDevice() {
        setenv("CANOPY_CHIP", "Ascend950PR_9599", 1);
        EXPECT_ACL_OK(aclInit(nullptr));
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        EXPECT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtMemset(memory, size, 0, size));
        std::ifstream file(CANOPY_TEST_SIMT_KERNELS, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        EXPECT_ACL_OK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &binary));
        image = {
            CANOPY_LAUNCH_VERSION, 0, bytes.data(), bytes.size(), "simt_kernels.cpp", &site, &site + 1, nullptr, {}};
        site = {"note_place", &image, &site, 40, CANOPY_LAUNCH_THREADS, {}};
    }
    aclrtFuncHandle function(const char* name) const {
        aclrtFuncHandle found = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(binary, name, &found));
        return found;
    }
    // note_place writes one word for each thread of the launch.
    void expect_places(dim3 grid, dim3 block, uint32_t first) {
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        const uint32_t threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
        std::vector<uint32_t> words(threads * blocks + 1);
        EXPECT_ACL_OK(aclrtMemcpy(words.data(), size, memory, words.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST));
        if (device_computes())
            for (uint32_t at = 0; at < words.size(); ++at)
                EXPECT_EQ(words[at], at < threads * blocks ? first + at / threads * 1000 + at % threads : 0u) << at;
        EXPECT_ACL_OK(aclrtMemset(memory, size, 0, size));
    }
    int launch(dim3 grid, dim3 block, uint32_t first, aclrtStream on) {
        uint64_t slots[5] = {reinterpret_cast<uint64_t>(memory), first, 0, 0, 0};
        const CanopyConfiguration configuration = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0, on};
        return canopyLaunch(&site, &configuration, slots, sizeof(slots));
    }

    static constexpr size_t size = 65536;
    aclrtStream stream = nullptr;
    void* memory = nullptr;
    std::vector<char> bytes;
    aclrtBinHandle binary = nullptr;
    CanopyEmbeddedImage image = {};
    CanopyLaunchSite site = {};
};

void dimensions_reach_the_kernel() {
    SimtDevice device;
    const aclrtFuncHandle function = device.function("note_place");
    uint32_t first = 5;
    void* arguments[] = {&device.memory, &first};
    EXPECT_ACL_OK(aclrtLaunchSIMTKernelWithArgsArray(function, dim3{3, 2, 1}, dim3{4, 2, 2}, 0, device.stream, nullptr,
                                                     arguments));
    device.expect_places(dim3{3, 2, 1}, dim3{4, 2, 2}, 5);

    // No placeholders here; the data after the parameters must stay at its offset.
    struct {
        void* memory;
        uint64_t first;
        uint64_t data;
    } block = {device.memory, 9, 0};
    EXPECT_ACL_OK(aclrtLaunchSIMTKernelWithHostArgs(function, dim3{2, 1, 1}, dim3{64, 1, 1}, 128, device.stream,
                                                    nullptr, &block, sizeof(block), nullptr, 0));
    device.expect_places(dim3{2, 1, 1}, dim3{64, 1, 1}, 9);

    EXPECT_ACL_OK(device.launch(dim3{1, 1, 2}, dim3{8, 1, 1}, 7, device.stream));
    device.expect_places(dim3{1, 1, 2}, dim3{8, 1, 1}, 7);
    EXPECT_ACL_OK(device.launch(dim3{4, 1, 1}, dim3{0, 0, 0}, 7, device.stream));
    device.expect_places(dim3{4, 1, 1}, dim3{1, 1, 1}, 7);
    EXPECT_ACL_OK(device.launch(dim3{1, 1, 1}, dim3{2048, 1, 1}, 7, device.stream));
    device.expect_places(dim3{1, 1, 1}, dim3{2048, 1, 1}, 7);
}

void dynamic_memory_is_that_of_a_core() {
    SimtDevice device;
    size_t size = 0;
    EXPECT_ACL_OK(aclrtFunctionGetAvailDynUbufPerBlock(device.function("note_place"), 0, &size));
    EXPECT_EQ(size, 256u * 1024);
    EXPECT_ACL_OK(aclrtFunctionGetAvailDynUbufPerBlock(device.function("no_threads"), 0, &size));
    EXPECT_EQ(size, 0u);
}

void placeholders_move_behind_the_dimensions() {
    SimtDevice device;
    struct {
        void* out;
        void* words;
        uint32_t data[4];
    } block = {device.memory, nullptr, {1, 20, 300, 4000}};
    aclrtPlaceHolderInfo placeholder = {8, 16};
    EXPECT_ACL_OK(aclrtLaunchSIMTKernelWithHostArgs(device.function("copy_words"), dim3{1, 1, 1}, dim3{4, 1, 1}, 0,
                                                    device.stream, nullptr, &block, sizeof(block), &placeholder, 1));
    EXPECT_ACL_OK(aclrtSynchronizeStream(device.stream));
    uint32_t words[4] = {};
    EXPECT_ACL_OK(aclrtMemcpy(words, sizeof(words), device.memory, sizeof(words), ACL_MEMCPY_DEVICE_TO_HOST));
    if (device_computes())
        for (int i = 0; i < 4; ++i) EXPECT_EQ(words[i], block.data[i]);
}

void wrong_dimensions_are_refused() {
    SimtDevice device;
    const aclrtFuncHandle function = device.function("note_place");
    uint32_t first = 0;
    void* arguments[] = {&device.memory, &first};
    const auto array = [&](dim3 grid, dim3 block) {
        return aclrtLaunchSIMTKernelWithArgsArray(function, grid, block, 0, device.stream, nullptr, arguments);
    };
    const dim3 one{1, 1, 1};
    for (const auto& launch : std::vector<std::function<int(dim3, dim3)>>{
             array, [&](dim3 grid, dim3 block) { return device.launch(grid, block, 0, device.stream); }}) {
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "zero", launch(one, dim3{0, 1, 1}));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "zero", launch(one, dim3{4, 4, 0}));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "2049 threads", launch(one, dim3{2049, 1, 1}));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "threads", launch(one, dim3{65536, 65536, 65536}));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "locks", launch(dim3{0, 1, 1}, one));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "locks", launch(dim3{256, 256, 1}, one));
    }
    uint64_t slots[2] = {};
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "argsSize 8",
        aclrtLaunchSIMTKernelWithHostArgs(function, one, one, 0, device.stream, nullptr, slots, 8, nullptr, 0));
    void* null[] = {nullptr, &first};
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "args[0]",
                     aclrtLaunchSIMTKernelWithArgsArray(function, one, one, 0, device.stream, nullptr, null));
}

void kernels_are_launched_the_way_they_were_written() {
    SimtDevice device;
    uint32_t first = 0;
    void* arguments[] = {&device.memory, &first};
    uint64_t slots[8] = {};
    const dim3 one{1, 1, 1};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "is a SIMT kernel",
                     aclrtLaunchKernelWithHostArgs(device.function("note_place"), 1, device.stream, nullptr, slots,
                                                   sizeof(slots), nullptr, 0));
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_PARAM_INVALID, "is a SIMT kernel",
        aclrtLaunchKernelWithArgsArray(device.function("note_place"), 1, device.stream, nullptr, arguments));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not a SIMT kernel",
                     aclrtLaunchSIMTKernelWithArgsArray(device.function("no_threads"), one, one, 0, device.stream,
                                                        nullptr, arguments));
}

TEST(SimtLaunchDeathTest, DimensionsReachTheKernel) { EXPECT_IN_OWN_PROCESS(dimensions_reach_the_kernel); }
TEST(SimtLaunchDeathTest, DynamicMemoryIsThatOfACore) { EXPECT_IN_OWN_PROCESS(dynamic_memory_is_that_of_a_core); }
TEST(SimtLaunchDeathTest, PlaceholdersMoveBehindTheDimensions) {
    EXPECT_IN_OWN_PROCESS(placeholders_move_behind_the_dimensions);
}
TEST(SimtLaunchDeathTest, WrongDimensionsAreRefused) { EXPECT_IN_OWN_PROCESS(wrong_dimensions_are_refused); }
TEST(SimtLaunchDeathTest, KernelsAreLaunchedTheWayTheyWereWritten) {
    EXPECT_IN_OWN_PROCESS(kernels_are_launched_the_way_they_were_written);
}

}  // namespace
}  // namespace conformance
