// SPDX-License-Identifier: Apache-2.0
// Kernel binaries, the functions in them, and argument lists.
#include <fstream>
#include <iterator>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

std::vector<char> image() {
    std::ifstream file(CANOPY_TEST_KERNELS, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Binary : public KernelTest {
protected:
    // Runs a kernel that counts, to show that the binary works.
    void expect_usable(aclrtBinHandle binary) {
        aclrtFuncHandle increment = nullptr;
        ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "increment", &increment));
        auto* counter = device_array<uint32_t>({0});
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &counter, 8, nullptr, 0));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 1u);
    }
};

// ---- loading -------------------------------------------------------------------------------------------------------

TEST_F(Binary, NullArgumentsAreRefused) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle func = nullptr;
    void* address = nullptr;
    size_t size = 0;
    const std::vector<char> data = image();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binPath", aclrtBinaryLoadFromFile(nullptr, nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle",
                     aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "data", aclrtBinaryLoadFromData(nullptr, 8, nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle",
                     aclrtBinaryLoadFromData(data.data(), data.size(), nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "length", aclrtBinaryLoadFromData(data.data(), 0, nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binary", aclrtBinaryLoad(nullptr, &binary));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binary", aclrtDestroyBinary(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle", aclrtBinaryUnLoad(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle", aclrtBinaryGetDevAddress(nullptr, &address, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binAddr", aclrtBinaryGetDevAddress(binary_, nullptr, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binSize", aclrtBinaryGetDevAddress(binary_, &address, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle",
                     aclrtBinaryGetGlobal(nullptr, "global_word", &address, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "name", aclrtBinaryGetGlobal(binary_, nullptr, &address, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "both", aclrtBinaryGetGlobal(binary_, "global_word", nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle", aclrtBinaryGetFunction(nullptr, "increment", &func));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kernelName", aclrtBinaryGetFunction(binary_, nullptr, &func));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcHandle", aclrtBinaryGetFunction(binary_, "increment", nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "binHandle", aclrtBinaryGetFunctionByEntry(nullptr, 1, &func));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcHandle", aclrtBinaryGetFunctionByEntry(binary_, 1, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "callback", aclrtBinarySetExceptionCallback(binary_, nullptr, nullptr));
    recent_error();
    EXPECT_EQ(aclrtCreateBinary(nullptr, 8), nullptr);
    EXPECT_NE(recent_error().find("data"), std::string::npos);
    EXPECT_EQ(binary, nullptr);
}

TEST_F(Binary, HandlesThatAreNoneAreRefused) {
    aclrtBinHandle stale = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &stale));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(stale));
    aclrtFuncHandle func = nullptr;
    void* address = nullptr;
    size_t size = 0;
    const std::vector<HandleCall> calls = {
        {"aclrtBinaryUnLoad", aclrtBinaryUnLoad},
        {"aclrtBinaryGetDevAddress", [&](void* b) { return aclrtBinaryGetDevAddress(b, &address, &size); }},
        {"aclrtBinaryGetGlobal", [&](void* b) { return aclrtBinaryGetGlobal(b, "global_word", &address, &size); }},
        {"aclrtBinaryGetFunction", [&](void* b) { return aclrtBinaryGetFunction(b, "increment", &func); }},
        {"aclrtBinaryGetFunctionByEntry", [&](void* b) { return aclrtBinaryGetFunctionByEntry(b, 1, &func); }},
        {"aclrtBinarySetExceptionCallback",
         [](void* b) {
             return aclrtBinarySetExceptionCallback(
                 b, [](aclrtExceptionInfo*, void*) {}, nullptr);
         }},
    };
    expect_all_refuse(calls, handles_that_are_none(stale, stream_), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(func, nullptr);
}

TEST_F(Binary, LoadsFromFileFromDataAndFromABinaryObject) {
    aclrtBinHandle from_file = nullptr, from_data = nullptr, from_object = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &from_file));
    expect_usable(from_file);
    {
        std::vector<char> data = image();
        ASSERT_ACL_OK(aclrtBinaryLoadFromData(data.data(), data.size(), nullptr, &from_data));
        std::fill(data.begin(), data.end(), 0);  // the runtime has copied the bytes
    }
    expect_usable(from_data);
    const std::vector<char> data = image();
    aclrtBinary object = aclrtCreateBinary(data.data(), data.size());
    ASSERT_NE(object, nullptr);
    ASSERT_ACL_OK(aclrtBinaryLoad(object, &from_object));
    ASSERT_ACL_OK(aclrtDestroyBinary(object));
    expect_usable(from_object);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "binary", aclrtDestroyBinary(object));
    aclrtBinHandle unused = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "binary", aclrtBinaryLoad(object, &unused));
    EXPECT_EQ(aclrtBinaryLoad(reinterpret_cast<aclrtBinary>(0x1000), &unused), ACL_ERROR_RT_INVALID_HANDLE);
    for (aclrtBinHandle binary : {from_file, from_data, from_object}) EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
}

TEST_F(Binary, LoadsByRelativePath) {
    const std::string path = CANOPY_TEST_KERNELS;
    EXPECT_IN_OWN_PROCESS([&] {
        const size_t slash = path.rfind('/');
        ASSERT_EQ(chdir(path.substr(0, slash).c_str()), 0);
        aclrtBinHandle binary = nullptr;
        ASSERT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_OK(aclrtBinaryLoadFromFile(path.substr(slash + 1).c_str(), nullptr, &binary));
        EXPECT_ACL_OK(aclrtBinaryLoadFromFile(("./" + path.substr(slash + 1)).c_str(), nullptr, &binary));
    });
}

TEST_F(Binary, FilesThatAreNoImagesAreRefused) {
    aclrtBinHandle binary = nullptr;
    TemporaryDirectory directory;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "nowhere.o", aclrtBinaryLoadFromFile("/nowhere.o", nullptr, &binary));
    EXPECT_NE(aclrtBinaryLoadFromFile("", nullptr, &binary), ACL_SUCCESS);
    EXPECT_NE(aclrtBinaryLoadFromFile("/tmp", nullptr, &binary), ACL_SUCCESS);
    const std::string empty = directory.write("empty.o", "");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "empty.o", aclrtBinaryLoadFromFile(empty.c_str(), nullptr, &binary));
    const std::string text = directory.write("text.o", "#include <stdio.h>\nint main() {}\n");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtBinaryLoadFromFile(text.c_str(), nullptr, &binary));
    // An ELF file that is not an image.
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtBinaryLoadFromFile("/proc/self/exe", nullptr, &binary));
    EXPECT_EQ(binary, nullptr);
}

TEST_F(Binary, TruncatedImagesAreRefused) {
    const std::vector<char> whole = image();
    aclrtBinHandle binary = nullptr;
    std::vector<size_t> lengths = {1, 2, 4, 16, 63, 64, 65, whole.size() - 1, whole.size() - 64};
    for (size_t length = 100; length < whole.size(); length += whole.size() / 61) lengths.push_back(length);
    for (const size_t length : lengths) {
        const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "",
                         aclrtBinaryLoadFromData(part.data(), length, nullptr, &binary));
    }
    EXPECT_EQ(binary, nullptr);
}

TEST_F(Binary, DamagedImagesAreRefusedOrWork) {
    const std::vector<char> whole = image();
    unsigned refused = 0;
    for (size_t at = 0; at < whole.size(); at += whole.size() / 197) {
        std::vector<char> damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
        aclrtBinHandle binary = nullptr;
        const aclError code = aclrtBinaryLoadFromData(damaged.data(), damaged.size(), nullptr, &binary);
        if (code == ACL_SUCCESS) {
            EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
            continue;
        }
        ++refused;
        EXPECT_EQ(code, ACL_ERROR_RT_PARAM_INVALID);
        EXPECT_FALSE(recent_error().empty());
    }
    EXPECT_GT(refused, 100u);
    expect_usable(binary_);
}

TEST_F(Binary, OptionsAreChecked) {
    aclrtBinaryLoadOption options[2] = {};
    aclrtBinaryLoadOptions all = {options, 1};
    aclrtBinHandle binary = nullptr;
    for (const uint32_t magic :
         {ACL_RT_BINARY_MAGIC_ELF_AICORE, ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE}) {
        options[0].type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
        options[0].value.magic = magic;
        ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
        ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    }
    options[0].value.magic = 0x1234;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "magic", aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    options[0].type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
    options[0].value.isLazyLoad = 2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "isLazyLoad",
                     aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    options[0].type = static_cast<aclrtBinaryLoadOptionType>(77);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "77", aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    all.options = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "options", aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    all.numOpt = 0;
    EXPECT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
}

TEST_F(Binary, LazyOneReachesTheDeviceWithItsFirstFunction) {
    aclrtBinaryLoadOption option = {};
    option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
    option.value.isLazyLoad = 1;
    aclrtBinaryLoadOptions all = {&option, 1};
    aclrtBinHandle binary = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, &all, &binary));
    void* address = &address;
    size_t size = 1;
    ASSERT_ACL_OK(aclrtBinaryGetDevAddress(binary, &address, &size));
    EXPECT_EQ(address, nullptr);
    expect_usable(binary);
    if (device_computes()) {
        ASSERT_ACL_OK(aclrtBinaryGetDevAddress(binary, &address, &size));
        EXPECT_NE(address, nullptr);
        EXPECT_GT(size, 0u);
    }
    EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
    std::vector<char> damaged = image();
    damaged.resize(damaged.size() / 2);
    EXPECT_EQ(aclrtBinaryLoadFromData(damaged.data(), damaged.size(), &all, &binary), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Binary, GlobalsAreMemoryOfTheBinary) {
    if (!device_computes()) GTEST_SKIP();
    void* address = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtBinaryGetGlobal(binary_, "global_word", &address, &size));
    EXPECT_EQ(size, sizeof(uint32_t));
    auto* out = device_array<uint32_t>({0});
    ASSERT_ACL_OK(launch("read_global", 1, stream_, out));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(out, 1)[0], 41u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "no_such_word",
                     aclrtBinaryGetGlobal(binary_, "no_such_word", &address, &size));
    EXPECT_ACL_OK(aclrtBinaryGetGlobal(binary_, "global_word", &address, nullptr));
    EXPECT_ACL_OK(aclrtBinaryGetGlobal(binary_, "global_word", nullptr, &size));
    EXPECT_EQ(aclrtBinaryGetGlobal(binary_, std::string(5000, 'n').c_str(), &address, &size),
              ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Binary, UnloadingLetsQueuedLaunchesRun) {
    Gate gate;
    auto* counter = device_array<uint32_t>({0});
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle increment = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "increment", &increment));
    gate.hold(stream_);
    for (int i = 0; i < 10; ++i)
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &counter, 8, nullptr, 0));
    EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
    EXPECT_EQ(aclrtLaunchKernelWithHostArgs(increment, 1, stream_, nullptr, &counter, 8, nullptr, 0),
              ACL_ERROR_RT_INVALID_HANDLE);
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 10u);
}

TEST_F(Binary, UnloadingDoesNotWaitForKernelsOfOtherBinaries) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord go, done;
    ASSERT_ACL_OK(launch("wait_for_word", 1, stream_, go.device(), done.device()));
    aclrtBinHandle binary = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    EXPECT_EQ(done.get(), 0u);
    go.set(1);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Binary, UnloadingEndsItsFunctionsAndArgumentLists) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle increment = nullptr;
    aclrtArgsHandle arguments = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "increment", &increment));
    ASSERT_ACL_OK(aclrtKernelArgsInit(increment, &arguments));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    char name[64];
    EXPECT_EQ(aclrtGetFunctionName(increment, sizeof(name), name), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtKernelArgsFinalize(arguments), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Binary, RunsOnEveryDevice) {
    auto launch_there = [&](int32_t device) {
        EXPECT_ACL_OK(aclrtSetDevice(device));
        void* memory = nullptr;
        EXPECT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtMemset(memory, 64, 0, 64));
        EXPECT_ACL_OK(launch("increment", 1, nullptr, memory));
        EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
        uint32_t value = 0;
        EXPECT_ACL_OK(aclrtMemcpy(&value, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST));
        if (device_computes()) EXPECT_EQ(value, 1u);
        EXPECT_ACL_OK(aclrtFree(memory));
    };
    std::vector<std::thread> threads;
    for (int32_t device = 0; device < 4; ++device) threads.emplace_back(launch_there, device);
    for (std::thread& thread : threads) thread.join();
}

// ---- functions -----------------------------------------------------------------------------------------------------

class Function : public KernelTest {};

TEST_F(Function, UnknownNamesAreRefusedAndTheKnownOnesNamed) {
    aclrtFuncHandle func = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "increment", aclrtBinaryGetFunction(binary_, "no_such_kernel", &func));
    EXPECT_EQ(aclrtBinaryGetFunction(binary_, "", &func), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtBinaryGetFunction(binary_, std::string(5000, 'k').c_str(), &func), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "entry", aclrtBinaryGetFunctionByEntry(binary_, 12345, &func));
    EXPECT_EQ(func, nullptr);
    static int no_kernel;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "symbol", aclrtGetFuncBySymbol(&no_kernel, &func));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "symbol", aclrtGetFuncBySymbol(nullptr, &func));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcHandle", aclrtGetFuncBySymbol(&no_kernel, nullptr));
}

TEST_F(Function, IsTheSameEachTimeItIsLookedUp) {
    EXPECT_EQ(function("increment"), function("increment"));
    EXPECT_NE(function("increment"), function("nothing"));
}

TEST_F(Function, TellsItsNameBinaryAndAttributes) {
    aclrtFuncHandle increment = function("increment");
    char name[16] = {};
    ASSERT_ACL_OK(aclrtGetFunctionName(increment, sizeof(name), name));
    EXPECT_STREQ(name, "increment");
    ASSERT_ACL_OK(aclrtGetFunctionName(increment, 10, name));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "maxLen", aclrtGetFunctionName(increment, 9, name));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "name", aclrtGetFunctionName(increment, 16, nullptr));
    aclrtBinHandle binary = nullptr;
    ASSERT_ACL_OK(aclrtFunctionGetBinary(increment, &binary));
    EXPECT_EQ(binary, binary_);

    struct Expected {
        const char* name;
        int64_t type, ratio, schedule;
    };
    for (const Expected& one : {Expected{"increment", 2, 1 << 16, 0}, Expected{"trap_on_cube", 1, 1, 0},
                                Expected{"on_both_cores", 3, 1 | 2 << 16, 0}, Expected{"all_at_once", 2, 1 << 16, 1}}) {
        aclrtFuncHandle func = function(one.name);
        int64_t value = -1;
        EXPECT_ACL_OK(aclrtGetFunctionAttribute(func, ACL_FUNC_ATTR_KERNEL_TYPE, &value));
        EXPECT_EQ(value, one.type) << one.name;
        EXPECT_ACL_OK(aclrtGetFunctionAttribute(func, ACL_FUNC_ATTR_KERNEL_RATIO, &value));
        EXPECT_EQ(value, one.ratio) << one.name;
        EXPECT_ACL_OK(aclrtGetFunctionAttribute(func, ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &value));
        EXPECT_EQ(value, one.schedule) << one.name;
    }
    int64_t value = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attrType",
                     aclrtGetFunctionAttribute(increment, static_cast<aclrtFuncAttribute>(9), &value));
    size_t dynamic = 1;
    EXPECT_ACL_OK(aclrtFunctionGetAvailDynUbufPerBlock(increment, 0, &dynamic));
    EXPECT_EQ(dynamic, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtFunctionGetAvailDynUbufPerBlock(increment, 1, &dynamic));
}

TEST_F(Function, TellsWhereItsCodeIs) {
    void *cube = &cube, *vector = nullptr;
    size_t cube_size = 1, vector_size = 0;
    ASSERT_ACL_OK(aclrtGetFunctionAddr(function("increment"), &cube, &vector));
    EXPECT_EQ(cube, nullptr);
    if (device_computes()) {
        EXPECT_NE(vector, nullptr);
        ASSERT_ACL_OK(aclrtGetFunctionSize(function("increment"), &cube_size, &vector_size));
        EXPECT_EQ(cube_size, 0u);
        EXPECT_GT(vector_size, 0u);
    }
    ASSERT_ACL_OK(aclrtGetFunctionAddr(function("trap_on_cube"), &cube, &vector));
    EXPECT_EQ(vector, nullptr);
    ASSERT_ACL_OK(aclrtGetFunctionAddr(function("on_both_cores"), &cube, &vector));
    EXPECT_EQ(vector, cube);
}

TEST_F(Function, TellsItsParameters) {
    size_t count = 0, offset = 9, size = 9;
    ASSERT_ACL_OK(aclrtFunctionGetParamCount(function("nothing"), &count));
    EXPECT_EQ(count, 0u);
    aclrtFuncHandle mixed = function("mixed_arguments");
    ASSERT_ACL_OK(aclrtFunctionGetParamCount(mixed, &count));
    ASSERT_EQ(count, 5u);
    const size_t sizes[] = {8, 1, 2, 4, 8};
    for (size_t i = 0; i < count; ++i) {
        ASSERT_ACL_OK(aclrtFunctionGetParamInfo(mixed, i, &offset, &size));
        EXPECT_EQ(offset, 8 * i);
        EXPECT_EQ(size, sizes[i]);
    }
    EXPECT_ACL_OK(aclrtFunctionGetParamInfo(mixed, 0, &offset, nullptr));
    EXPECT_ACL_OK(aclrtFunctionGetParamInfo(mixed, 0, nullptr, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "both", aclrtFunctionGetParamInfo(mixed, 0, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramIndex", aclrtFunctionGetParamInfo(mixed, 5, &offset, &size));
    ASSERT_ACL_OK(aclrtFunctionGetParamCount(function("sum_many"), &count));
    EXPECT_EQ(count, 128u);
}

TEST_F(Function, HandlesThatAreNoneAreRefused) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle stale = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "nothing", &stale));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    char name[64];
    void *first = nullptr, *second = nullptr;
    size_t size = 0, other_size = 0;
    int64_t value = 0;
    uint64_t word = 0;
    void* memory = device_memory(64);
    aclrtArgsHandle arguments = nullptr;
    const std::vector<HandleCall> calls = {
        {"aclrtGetFunctionName", [&](void* f) { return aclrtGetFunctionName(f, 64, name); }},
        {"aclrtGetFunctionAddr", [&](void* f) { return aclrtGetFunctionAddr(f, &first, &second); }},
        {"aclrtGetFunctionSize", [&](void* f) { return aclrtGetFunctionSize(f, &size, &other_size); }},
        {"aclrtGetFunctionAttribute",
         [&](void* f) { return aclrtGetFunctionAttribute(f, ACL_FUNC_ATTR_KERNEL_TYPE, &value); }},
        {"aclrtFunctionGetBinary", [&](void* f) { return aclrtFunctionGetBinary(f, &first); }},
        {"aclrtFunctionGetParamCount", [&](void* f) { return aclrtFunctionGetParamCount(f, &size); }},
        {"aclrtFunctionGetParamInfo", [&](void* f) { return aclrtFunctionGetParamInfo(f, 0, &size, &other_size); }},
        {"aclrtFunctionGetAvailDynUbufPerBlock",
         [&](void* f) { return aclrtFunctionGetAvailDynUbufPerBlock(f, 0, &size); }},
        {"aclrtKernelArgsInit", [&](void* f) { return aclrtKernelArgsInit(f, &arguments); }},
        {"aclrtKernelArgsInitByUserMem", [&](void* f) { return aclrtKernelArgsInitByUserMem(f, name, name, 64); }},
        {"aclrtKernelArgsGetHandleMemSize", [&](void* f) { return aclrtKernelArgsGetHandleMemSize(f, &size); }},
        {"aclrtKernelArgsGetMemSize", [&](void* f) { return aclrtKernelArgsGetMemSize(f, 8, &size); }},
        {"aclrtLaunchKernel", [&](void* f) { return aclrtLaunchKernel(f, 1, memory, 8, stream_); }},
        {"aclrtLaunchKernelV2", [&](void* f) { return aclrtLaunchKernelV2(f, 1, memory, 8, nullptr, stream_); }},
        {"aclrtLaunchKernelWithHostArgs",
         [&](void* f) { return aclrtLaunchKernelWithHostArgs(f, 1, stream_, nullptr, &word, 8, nullptr, 0); }},
        {"aclrtLaunchKernelWithArgsArray",
         [&](void* f) { return aclrtLaunchKernelWithArgsArray(f, 1, stream_, nullptr, &first); }},
    };
    expect_all_refuse(calls, handles_that_are_none(stale, stream_), ACL_ERROR_RT_INVALID_HANDLE);
    for (const HandleCall& call : calls) EXPECT_EQ(call.call(nullptr), ACL_ERROR_INVALID_PARAM) << call.name;
}

// ---- argument lists ------------------------------------------------------------------------------------------------

class ArgumentList : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        sum_ = function("sum_bytes");
        ASSERT_ACL_OK(aclrtKernelArgsInit(sum_, &list_));
        out_ = device_array<uint64_t>({0});
    }
    aclError append(const void* value, size_t size, aclrtParamHandle* parameter = nullptr) {
        aclrtParamHandle unused = nullptr;
        return aclrtKernelArgsAppend(list_, const_cast<void*>(value), size, parameter ? parameter : &unused);
    }
    aclError launch_list() { return aclrtLaunchKernelWithConfig(sum_, 1, stream_, nullptr, list_, nullptr); }
    uint64_t result() {
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(out_, 1)[0];
    }
    aclrtFuncHandle sum_ = nullptr;
    aclrtArgsHandle list_ = nullptr;
    uint64_t* out_ = nullptr;
};

TEST_F(ArgumentList, NullArgumentsAreRefused) {
    uint64_t value = 1;
    aclrtParamHandle parameter = nullptr;
    aclrtArgsHandle list = nullptr;
    void* buffer = nullptr;
    size_t size = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcHandle", aclrtKernelArgsInit(nullptr, &list));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsInit(sum_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsInitByUserMem(sum_, nullptr, &value, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "userHostMem", aclrtKernelArgsInitByUserMem(sum_, &value, nullptr, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "actualArgsSize", aclrtKernelArgsInitByUserMem(sum_, &value, &value, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memSize", aclrtKernelArgsGetHandleMemSize(sum_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "actualArgsSize", aclrtKernelArgsGetMemSize(sum_, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsAppend(nullptr, &value, 8, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "param", aclrtKernelArgsAppend(list_, nullptr, 8, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramSize", aclrtKernelArgsAppend(list_, &value, 0, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramHandle", aclrtKernelArgsAppend(list_, &value, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsAppendPlaceHolder(nullptr, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramHandle", aclrtKernelArgsAppendPlaceHolder(list_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle",
                     aclrtKernelArgsGetPlaceHolderBuffer(nullptr, &value, 8, &buffer));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramHandle",
                     aclrtKernelArgsGetPlaceHolderBuffer(list_, nullptr, 8, &buffer));
    ASSERT_ACL_OK(aclrtKernelArgsAppendPlaceHolder(list_, &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "bufferAddr",
                     aclrtKernelArgsGetPlaceHolderBuffer(list_, parameter, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataSize",
                     aclrtKernelArgsGetPlaceHolderBuffer(list_, parameter, 0, &buffer));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsParaUpdate(nullptr, parameter, &value, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramHandle", aclrtKernelArgsParaUpdate(list_, nullptr, &value, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "param", aclrtKernelArgsParaUpdate(list_, parameter, nullptr, 8));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "paramSize", aclrtKernelArgsParaUpdate(list_, parameter, &value, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle", aclrtKernelArgsFinalize(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "argsHandle",
                     aclrtLaunchKernelWithConfig(sum_, 1, stream_, nullptr, nullptr, nullptr));
    ASSERT_ACL_OK(aclrtKernelArgsGetHandleMemSize(sum_, &size));
    EXPECT_GT(size, 0u);
}

TEST_F(ArgumentList, HandlesThatAreNoneAreRefused) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle func = nullptr;
    aclrtArgsHandle stale = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "sum_bytes", &func));
    ASSERT_ACL_OK(aclrtKernelArgsInit(func, &stale));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    uint64_t value = 1;
    aclrtParamHandle parameter = nullptr, out = nullptr;
    void* buffer = nullptr;
    ASSERT_ACL_OK(append(&value, 8, &parameter));
    const std::vector<HandleCall> calls = {
        {"aclrtKernelArgsAppend", [&](void* l) { return aclrtKernelArgsAppend(l, &value, 8, &out); }},
        {"aclrtKernelArgsAppendPlaceHolder", [&](void* l) { return aclrtKernelArgsAppendPlaceHolder(l, &out); }},
        {"aclrtKernelArgsGetPlaceHolderBuffer",
         [&](void* l) { return aclrtKernelArgsGetPlaceHolderBuffer(l, parameter, 8, &buffer); }},
        {"aclrtKernelArgsParaUpdate", [&](void* l) { return aclrtKernelArgsParaUpdate(l, parameter, &value, 8); }},
        {"aclrtKernelArgsFinalize", aclrtKernelArgsFinalize},
        {"aclrtLaunchKernelWithConfig",
         [&](void* l) { return aclrtLaunchKernelWithConfig(sum_, 1, stream_, nullptr, l, nullptr); }},
    };
    expect_all_refuse(calls, handles_that_are_none(stale, stream_), ACL_ERROR_RT_INVALID_HANDLE);
    const std::vector<HandleCall> parameter_calls = {
        {"aclrtKernelArgsGetPlaceHolderBuffer",
         [&](void* p) { return aclrtKernelArgsGetPlaceHolderBuffer(list_, p, 8, &buffer); }},
        {"aclrtKernelArgsParaUpdate", [&](void* p) { return aclrtKernelArgsParaUpdate(list_, p, &value, 8); }},
    };
    aclrtArgsHandle other = nullptr;
    aclrtParamHandle of_other = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(sum_, &other));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(other, &value, 8, &of_other));
    expect_all_refuse(parameter_calls, {{"of another list", of_other}, {"a stream", stream_}, {"small number", &value}},
                      ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ArgumentList, CarriesValuesAndPlaceholders) {
    const uint64_t count = 100;
    aclrtParamHandle placeholder = nullptr;
    ASSERT_ACL_OK(append(&out_, 8));
    ASSERT_ACL_OK(aclrtKernelArgsAppendPlaceHolder(list_, &placeholder));
    ASSERT_ACL_OK(append(&count, 8));
    void* buffer = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsGetPlaceHolderBuffer(list_, placeholder, count, &buffer));
    std::memset(buffer, 2, count);
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list_));
    ASSERT_ACL_OK(launch_list());
    std::memset(buffer, 3, count);  // the launch has its own copy
    if (device_computes()) EXPECT_EQ(result(), 200u);
    // Again, after refilling and finalising.
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list_));
    ASSERT_ACL_OK(launch_list());
    if (device_computes()) EXPECT_EQ(result(), 300u);
}

TEST_F(ArgumentList, IsLaunchedAnyNumberOfTimesAndUpdatedInBetween) {
    aclrtFuncHandle adder = function("add_atomically");
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(adder, &list));
    uint64_t amount = 1;
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &out_, 8, &first));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &amount, 8, &second));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "Finalize",
                     aclrtLaunchKernelWithConfig(adder, 1, stream_, nullptr, list, nullptr));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    for (int i = 0; i < 10; ++i) ASSERT_ACL_OK(aclrtLaunchKernelWithConfig(adder, 2, stream_, nullptr, list, nullptr));
    amount = 100;  // was copied when appended
    ASSERT_ACL_OK(aclrtKernelArgsParaUpdate(list, second, &amount, 8));
    EXPECT_EQ(aclrtLaunchKernelWithConfig(adder, 1, stream_, nullptr, list, nullptr), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    ASSERT_ACL_OK(aclrtLaunchKernelWithConfig(adder, 1, stream_, nullptr, list, nullptr));
    if (device_computes()) EXPECT_EQ(result(), 120u);
    uint32_t small = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paramSize", aclrtKernelArgsParaUpdate(list, second, &small, 4));
}

TEST_F(ArgumentList, LivesInMemoryOfTheProgram) {
    size_t handle_size = 0, size = 0;
    ASSERT_ACL_OK(aclrtKernelArgsGetHandleMemSize(sum_, &handle_size));
    ASSERT_ACL_OK(aclrtKernelArgsGetMemSize(sum_, 24 + 30, &size));
    EXPECT_EQ(size, 56u);
    std::vector<char> handle_memory(handle_size), memory(size);
    aclrtArgsHandle list = handle_memory.data();
    ASSERT_ACL_OK(aclrtKernelArgsInitByUserMem(sum_, list, memory.data(), size));
    aclrtParamHandle parameter = nullptr, placeholder = nullptr;
    uint64_t count = 30;
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &out_, 8, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsAppendPlaceHolder(list, &placeholder));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &count, 8, &parameter));
    void* buffer = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "bytes",
                     aclrtKernelArgsGetPlaceHolderBuffer(list, placeholder, 33, &buffer));
    ASSERT_ACL_OK(aclrtKernelArgsGetPlaceHolderBuffer(list, placeholder, 30, &buffer));
    std::memset(buffer, 1, 30);
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    ASSERT_ACL_OK(aclrtLaunchKernelWithConfig(sum_, 1, stream_, nullptr, list, nullptr));
    if (device_computes()) EXPECT_EQ(result(), 30u);
    // The same memory can be initialised again.
    ASSERT_ACL_OK(aclrtKernelArgsInitByUserMem(sum_, list, memory.data(), 8));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &out_, 8, &parameter));
    EXPECT_EQ(aclrtKernelArgsAppend(list, &count, 8, &parameter), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(ArgumentList, TakesNoMoreAfterBuffersOrFinalising) {
    uint64_t value = 0;
    aclrtParamHandle placeholder = nullptr, unused = nullptr;
    void* buffer = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsAppendPlaceHolder(list_, &placeholder));
    ASSERT_ACL_OK(aclrtKernelArgsGetPlaceHolderBuffer(list_, placeholder, 8, &buffer));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "PlaceHolderBuffer", append(&value, 8));
    EXPECT_EQ(aclrtKernelArgsAppendPlaceHolder(list_, &unused), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    ASSERT_ACL_OK(aclrtKernelArgsInit(sum_, &list_));
    ASSERT_ACL_OK(append(&value, 8));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "Finalize", append(&value, 8));
    EXPECT_EQ(aclrtKernelArgsAppendPlaceHolder(list_, &unused), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(ArgumentList, PlaceholderWithoutBufferCannotBeFinalised) {
    aclrtParamHandle placeholder = nullptr, value = nullptr;
    uint64_t number = 1;
    ASSERT_ACL_OK(append(&number, 8, &value));
    ASSERT_ACL_OK(aclrtKernelArgsAppendPlaceHolder(list_, &placeholder));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder", aclrtKernelArgsFinalize(list_));
    void* buffer = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder",
                     aclrtKernelArgsGetPlaceHolderBuffer(list_, value, 8, &buffer));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder",
                     aclrtKernelArgsParaUpdate(list_, placeholder, &number, 8));
}

TEST_F(ArgumentList, Has128ParametersAtMost) {
    aclrtFuncHandle many = function("sum_many");
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle parameter = nullptr;
    ASSERT_ACL_OK(aclrtKernelArgsInit(many, &list));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &out_, 8, &parameter));
    for (uint64_t i = 1; i < 128; ++i) ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &i, 8, &parameter));
    uint64_t value = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "128", aclrtKernelArgsAppend(list, &value, 8, &parameter));
    EXPECT_EQ(aclrtKernelArgsAppendPlaceHolder(list, &parameter), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    ASSERT_ACL_OK(aclrtLaunchKernelWithConfig(many, 1, stream_, nullptr, list, nullptr));
    if (device_computes()) EXPECT_EQ(result(), 127u * 128 / 2);
}

TEST_F(ArgumentList, IsForItsOwnFunctionAndForAllItsParameters) {
    ASSERT_ACL_OK(append(&out_, 8));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "another function",
                     aclrtLaunchKernelWithConfig(function("increment"), 1, stream_, nullptr, list_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "parameters", launch_list());
}

TEST_F(ArgumentList, ValuesLargerThanASlotKeepTheirBytes) {
    struct Large {
        uint64_t words[9];
    } large = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    aclrtParamHandle parameter = nullptr;
    ASSERT_ACL_OK(append(&large, sizeof(large), &parameter));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "too large", append(&large, size_t{1} << 40));
    ASSERT_ACL_OK(aclrtKernelArgsParaUpdate(list_, parameter, &large, sizeof(large)));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list_));
}

TEST_F(ArgumentList, IsUsedByManyThreadsAtOnce) {
    aclrtFuncHandle adder = function("add_atomically");
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle first = nullptr, second = nullptr;
    uint64_t amount = 1;
    ASSERT_ACL_OK(aclrtKernelArgsInit(adder, &list));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &out_, 8, &first));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &amount, 8, &second));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            for (int i = 0; i < 500; ++i)
                EXPECT_EQ(aclrtLaunchKernelWithConfig(adder, 1, i % 2 ? stream_ : nullptr, nullptr, list, nullptr), 0);
            EXPECT_ACL_OK(aclrtSynchronizeDevice());
        });
    for (std::thread& thread : threads) thread.join();
    if (device_computes()) EXPECT_EQ(result(), 2000u);
}

}  // namespace
}  // namespace conformance
