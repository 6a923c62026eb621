// SPDX-License-Identifier: Apache-2.0
// Embedded images used by many threads while devices are reset, the runtime is finalised and libraries come and go.
#include <dlfcn.h>

#include <atomic>
#include <functional>
#include <thread>

#include "fixtures/embedded.h"
#include "fixtures/holding.h"
#include "until.h"

namespace conformance {
namespace {

void in_threads(int count, const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
            ++ready;
            EXPECT_TRUE(eventually([&] { return ready.load() == count; }));
            body(t);
        });
    for (std::thread& thread : threads) thread.join();
}

class RegisteredThreads : public DeviceTest {};

TEST_F(RegisteredThreads, RaceForTheFirstLaunchOfASite) {
    for (int round = 0; round < 10; ++round) {
        Embedded embedded;
        auto* total = device_array<uint64_t>({0});
        in_threads(8, [&](int) {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            EXPECT_ACL_OK(embedded.launch("add_atomically", 1, nullptr, total, uint64_t{1}));
            EXPECT_ACL_OK(embedded.launch("add_atomically", 2, nullptr, total, uint64_t{1}));
        });
        ASSERT_ACL_OK(aclrtSynchronizeDevice());
        if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], 24u);
        CanopyLiveObjects live = {};
        canopyCountLiveObjects(&live);
        EXPECT_EQ(live.binaries, 1u);
        EXPECT_EQ(live.functions, 1u);
    }
}

TEST_F(RegisteredThreads, RaceOnSeveralDevices) {
    Embedded embedded;
    int32_t before = 0;
    ASSERT_ACL_OK(aclrtGetDevice(&before));
    in_threads(8, [&](int t) {
        ASSERT_ACL_OK(aclrtSetDevice(t % 2));
        for (int i = 0; i < 100; ++i) EXPECT_ACL_OK(embedded.launch("nothing", 1, nullptr));
        EXPECT_ACL_OK(aclrtSynchronizeDevice());
    });
    aclrtResetDeviceForce(1);
    ASSERT_ACL_OK(aclrtSetDevice(before));
}

// Threads that launch during a device reset get an error code, and can launch again once the device is back.
TEST_F(RegisteredThreads, LaunchWhileTheDeviceIsReset) {
    Embedded embedded;
    std::atomic<bool> stop{false};
    std::atomic<int> launched{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            while (!stop.load()) {
                if (aclrtSetDevice(1) != ACL_SUCCESS) continue;
                const int code = embedded.launch("nothing", 1, nullptr);
                launched += code == ACL_SUCCESS;
                EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_CONTEXT_NULL ||
                            code == ACL_ERROR_RT_INVALID_HANDLE || code == ACL_ERROR_RT_STREAM_CONTEXT)
                    << code;
            }
        });
    const int resets = device_is_a_process() ? 20 : 200;
    for (int reset = 0; reset < resets; ++reset) {
        EXPECT_ACL_OK(aclrtSetDevice(1));
        EXPECT_ACL_OK(aclrtResetDeviceForce(1));
    }
    EXPECT_TRUE(eventually([&] { return launched.load() != 0; }));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(launched.load(), 0);
    aclrtSetDevice(1);
    aclrtResetDeviceForce(1);
    ASSERT_ACL_OK(aclrtSetDevice(0));
    recent_error();
}

// The other race: the binary is unloaded repeatedly while threads launch from its site.
TEST_F(RegisteredThreads, LaunchWhileTheBinaryIsUnloaded) {
    Embedded embedded;
    canopyRegisterImage(&embedded.image);
    auto* total = device_array<uint64_t>({0});
    std::atomic<int> running{4};
    std::atomic<uint64_t> launched{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            for (int i = 0; i < 200; ++i)
                launched += embedded.launch("add_atomically", 1, nullptr, total, uint64_t{1}) == ACL_SUCCESS;
            --running;
        });
    while (running.load() != 0) {
        aclrtFuncHandle function = nullptr;
        aclrtBinHandle binary = nullptr;
        if (aclrtGetFuncBySymbol(embedded.site("add_atomically").function, &function) == ACL_SUCCESS &&
            aclrtFunctionGetBinary(function, &binary) == ACL_SUCCESS)
            aclrtBinaryUnLoad(binary);
    }
    for (std::thread& thread : threads) thread.join();
    // Launches that hit an unload on every attempt were refused.
    EXPECT_EQ(aclrtSynchronizeDevice(), launched.load() == 800 ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_HANDLE);
    ASSERT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_GT(launched.load(), 0u);
    if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], launched.load());
    recent_error();
}

#ifdef CANOPY_TEST_LIBRARIES
// One of two libraries with the same image and the same names, registered by their constructors.
class Library {
public:
    explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(handle_, nullptr) << dlerror();
    }
    ~Library() { EXPECT_EQ(dlclose(handle_), 0); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    int increment(aclrtStream stream, void* counter) const {
        auto* launch = reinterpret_cast<int (*)(void*, void*)>(dlsym(handle_, "library_increment"));
        return launch(stream, counter);
    }
    void wait_at_end(aclrtStream stream) const {
        reinterpret_cast<void (*)(void*)>(dlsym(handle_, "library_wait_at_end"))(stream);
    }
    [[nodiscard]] const void* word() const { return dlsym(handle_, "library_word"); }

private:
    void* handle_;
};

constexpr const char* first_library = CANOPY_TEST_LIBRARIES "/libembedded_first.so";
constexpr const char* second_library = CANOPY_TEST_LIBRARIES "/libembedded_second.so";

TEST_F(RegisteredThreads, LibrariesWithTheSameImageAreApart) {
    auto* counter = device_array<uint32_t>({0});
    const Library first(first_library);
    {
        const Library second(second_library);
        ASSERT_ACL_OK(first.increment(stream_, counter));
        ASSERT_ACL_OK(second.increment(stream_, counter));
        if (device_computes()) {
            const uint32_t seven = 7;
            uint32_t value = 0;
            EXPECT_ACL_OK(aclrtMemcpyToSymbol(first.word(), &seven, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
            EXPECT_ACL_OK(aclrtMemcpyFromSymbol(&value, 4, second.word(), 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
            EXPECT_EQ(value, 41u);
        }
    }
    ASSERT_ACL_OK(first.increment(stream_, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 3u);
}

// dlclose waits for the library's destructors, the last of which waits for the library's launches.
TEST_F(RegisteredThreads, LibraryWaitsForItsLaunchesInItsLastDestructor) {
    if (!device_computes()) GTEST_SKIP();
    for (int round = 0; round < 10; ++round) {
        auto* counter = device_array<uint32_t>({0});
        Gate gate;
        std::thread opener;
        {
            const Library library(first_library);
            gate.hold(stream_);
            for (int i = 0; i < 10; ++i) ASSERT_ACL_OK(library.increment(stream_, counter));
            library.wait_at_end(stream_);
            opener = std::thread([&] {
                EXPECT_ACL_OK(aclrtSetDevice(0));
                EXPECT_TRUE(eventually([] {
                    CanopyLiveObjects live = {};
                    canopyCountLiveObjects(&live);
                    return live.binaries == 0;
                }));
                gate.open();
            });
        }
        opener.join();
        EXPECT_EQ(read_back(counter, 1)[0], 10u);
    }
}

TEST_F(RegisteredThreads, LibrariesComeAndGoWhileOthersLaunch) {
    Embedded embedded;
    auto* counter = device_array<uint32_t>({0});
    std::atomic<bool> stop{false};
    std::thread other([&] {
        ASSERT_ACL_OK(aclrtSetDevice(0));
        while (!stop.load()) {
            // A new image each time, so that this thread loads code while the other one opens libraries.
            Embedded fresh;
            EXPECT_ACL_OK(fresh.launch("nothing", 1, nullptr));
            EXPECT_ACL_OK(embedded.launch("nothing", 1, nullptr));
        }
    });
    for (int round = 0; round < 20; ++round) {
        const Library library(round % 2 ? first_library : second_library);
        EXPECT_ACL_OK(library.increment(stream_, counter));
    }
    stop = true;
    other.join();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 20u);
}
#endif

}  // namespace
}  // namespace conformance
