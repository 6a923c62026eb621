// SPDX-License-Identifier: Apache-2.0
// Calls from many threads on the same objects, also while these are destroyed: every call returns a code, nothing is
// lost.
#include <atomic>
#include <functional>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

// How often an object is destroyed under load. Each round waits for thousands of kernels, which take tens of times
// longer under a sanitizer. Sanitizers need fewer rounds, since they detect a race without hitting the exact moment.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t under_load = 25;
#else
constexpr uint32_t under_load = 200;
#endif

class Threads : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtGetCurrentContext(&context_));
        total_ = device_array<uint64_t>({0});
        add_ = function("add_atomically");
        // Checking mode checks all memory after every kernel; with this many it takes minutes and finds nothing new.
        if (checking_mode()) GTEST_SKIP() << "too many kernels to check after each";
    }
    // Runs `body(thread number)` in `count` threads, all in the test's context.
    void in_threads(int count, const std::function<void(int)>& body) {
        std::vector<std::thread> threads;
        for (int t = 0; t < count; ++t)
            threads.emplace_back([&, t] {
                EXPECT_ACL_OK(aclrtSetCurrentContext(context_));
                body(t);
            });
        for (std::thread& thread : threads) thread.join();
    }
    aclError add(aclrtStream stream, uint64_t amount = 1, uint32_t blocks = 1) {
        uint64_t arguments[] = {reinterpret_cast<uint64_t>(total_), amount};
        return aclrtLaunchKernelWithHostArgs(add_, blocks, stream, nullptr, arguments, sizeof(arguments), nullptr, 0);
    }
    uint64_t total() { return read_back(total_, 1)[0]; }

    aclrtContext context_ = nullptr;
    uint64_t* total_ = nullptr;
    aclrtFuncHandle add_ = nullptr;
};

TEST_F(Threads, ManySubmitToOneStream) {
    in_threads(8, [&](int) {
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(add(stream_), ACL_SUCCESS);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    });
    if (device_computes()) EXPECT_EQ(total(), 8000u);
}

TEST_F(Threads, EachSubmitsToItsOwnStream) {
    in_threads(8, [&](int t) {
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, static_cast<uint32_t>(t), 0));
        for (int i = 0; i < 1000; ++i) {
            ASSERT_EQ(add(stream, 1, i % 50 == 0 ? 8 : 1), ACL_SUCCESS);
            if (i % 100 == 0) EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        }
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
    if (device_computes()) EXPECT_EQ(total(), 8u * (1000 + 20 * 7));
}

TEST_F(Threads, OrderOfOneThreadIsKeptWhileOthersSubmitToo) {
    if (!device_computes()) GTEST_SKIP();
    constexpr uint32_t tasks = 300;
    auto* log = device_array(std::vector<uint32_t>(1 + 4 * tasks, 0));
    in_threads(4, [&](int t) {
        for (uint32_t i = 0; i < tasks; ++i)
            ASSERT_EQ(launch("append", 1, stream_, log, static_cast<uint32_t>(t) * tasks + i), ACL_SUCCESS);
    });
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    const std::vector<uint32_t> found = read_back(log, 1 + 4 * tasks);
    ASSERT_EQ(found[0], 4 * tasks);
    uint32_t next[4] = {};
    for (uint32_t i = 1; i <= 4 * tasks; ++i) {
        const uint32_t thread = found[i] / tasks;
        ASSERT_EQ(found[i] % tasks, next[thread]++) << "thread " << thread;
    }
}

TEST_F(Threads, StreamsEndWhileOthersUseThem) {
    std::atomic<aclrtStream> current{nullptr};
    std::atomic<bool> end{false};
    std::atomic<uint64_t> accepted{0}, refused{0};
    in_threads(6, [&](int t) {
        if (t == 0) {
            // A launch in another process takes so long that each destroyed stream has thousands to finish.
            const uint32_t rounds = device_reaches_all_memory() ? under_load : under_load / 20;
            for (uint32_t i = 0; i < rounds || accepted.load() == 0; ++i) {
                aclrtStream stream = nullptr;
                EXPECT_ACL_OK(aclrtCreateStream(&stream));
                aclrtStream old = current.exchange(stream);
                for (int j = 0; j < 20; ++j) EXPECT_EQ(add(stream, 0), ACL_SUCCESS);
                if (old) EXPECT_ACL_OK(i % 2 ? aclrtDestroyStream(old) : aclrtDestroyStreamForce(old));
            }
            end.store(true);
            return;
        }
        while (!end.load()) {
            aclrtStream stream = current.load();
            if (!stream) continue;
            aclrtStreamStatus status;
            const aclError code = t == 1   ? aclrtSynchronizeStream(stream)
                                  : t == 2 ? aclrtStreamQuery(stream, &status)
                                           : add(stream, 1);
            if (code == ACL_SUCCESS)
                accepted.fetch_add(1);
            else if (code == ACL_ERROR_RT_INVALID_HANDLE)
                refused.fetch_add(1);
            else
                ADD_FAILURE() << "unexpected code " << code;
        }
    });
    EXPECT_ACL_OK(aclrtDestroyStream(current.load()));
}

TEST_F(Threads, OneOfManyDestroysAStream) {
    for (int round = 0; round < 50; ++round) {
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        ASSERT_ACL_OK(add(stream));
        std::atomic<int> destroyed{0};
        in_threads(4, [&](int t) {
            const aclError code = t % 2 ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream);
            if (code == ACL_SUCCESS)
                destroyed.fetch_add(1);
            else
                EXPECT_EQ(code, ACL_ERROR_RT_INVALID_HANDLE);
        });
        EXPECT_EQ(destroyed.load(), 1);
    }
    if (device_computes()) EXPECT_EQ(total(), 50u);
}

TEST_F(Threads, EventsEndWhileOthersUseThem) {
    std::atomic<aclrtEvent> current{nullptr};
    std::atomic<bool> end{false};
    aclrtEvent first = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_SYNC));
    current.store(first);
    in_threads(6, [&](int t) {
        if (t == 0) {
            for (int i = 0; i < 1000; ++i) {
                aclrtEvent event = nullptr;
                EXPECT_ACL_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
                EXPECT_ACL_OK(aclrtDestroyEvent(current.exchange(event)));
            }
            end.store(true);
            return;
        }
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        while (!end.load()) {
            aclrtEvent event = current.load();
            const aclError code = t % 3 == 0   ? aclrtRecordEvent(event, stream)
                                  : t % 3 == 1 ? aclrtStreamWaitEvent(stream, event)
                                               : aclrtSynchronizeEvent(event);
            if (code != ACL_SUCCESS) EXPECT_EQ(code, ACL_ERROR_RT_INVALID_HANDLE);
        }
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
    EXPECT_ACL_OK(aclrtDestroyEvent(current.load()));
}

TEST_F(Threads, BinariesAreUnloadedWhileOthersLaunch) {
    std::atomic<aclrtBinHandle> current{nullptr};
    std::atomic<bool> end{false};
    std::atomic<uint64_t> launched{0};
    aclrtBinHandle first = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &first));
    current.store(first);
    in_threads(5, [&](int t) {
        if (t == 0) {
            for (int i = 0; i < 60; ++i) {
                aclrtBinHandle binary = nullptr;
                EXPECT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
                EXPECT_ACL_OK(aclrtBinaryUnLoad(current.exchange(binary)));
            }
            end.store(true);
            return;
        }
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        while (!end.load()) {
            aclrtFuncHandle func = nullptr;
            aclError code = aclrtBinaryGetFunction(current.load(), "add_atomically", &func);
            uint64_t arguments[] = {reinterpret_cast<uint64_t>(total_), 1};
            for (int i = 0; i < 20 && code == ACL_SUCCESS; ++i) {
                code =
                    aclrtLaunchKernelWithHostArgs(func, i % 5 == 0 ? 4 : 1, stream, nullptr, arguments, 16, nullptr, 0);
                if (code == ACL_SUCCESS) launched.fetch_add(i % 5 == 0 ? 4 : 1);
            }
            if (code != ACL_SUCCESS) EXPECT_EQ(code, ACL_ERROR_RT_INVALID_HANDLE);
        }
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
    EXPECT_ACL_OK(aclrtBinaryUnLoad(current.load()));
    if (device_computes()) EXPECT_EQ(total(), launched.load());
}

TEST_F(Threads, SynchronousCopiesComeThroughWhileOthersKeepLaunching) {
    std::atomic<bool> end{false};
    in_threads(4, [&](int t) {
        if (t == 0) {
            void* memory = nullptr;
            // A copy waits for all that is queued: seconds where a launch is a message to another process.
            const uint32_t rounds = device_reaches_all_memory() ? under_load : under_load / 20;
            for (uint32_t i = 0; i < rounds; ++i) {
                ASSERT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
                uint32_t value = 0;
                ASSERT_ACL_OK(aclrtMemcpy(memory, 4, &i, 4, ACL_MEMCPY_HOST_TO_DEVICE));
                ASSERT_ACL_OK(aclrtMemcpy(&value, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST));
                EXPECT_EQ(value, i);
                ASSERT_ACL_OK(aclrtFree(memory));
            }
            end.store(true);
            return;
        }
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        while (!end.load()) ASSERT_EQ(add(stream), ACL_SUCCESS);
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
}

TEST_F(Threads, AbortsAndFaultsOfOneDoNotReachTheOthers) {
    if (!device_computes()) GTEST_SKIP();
    aclrtFuncHandle trap = function("trap_always");
    std::atomic<bool> end{false};
    in_threads(4, [&](int t) {
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        uint64_t none = 0;
        if (t == 0) {
            for (int i = 0; i < 100; ++i) {
                EXPECT_EQ(aclrtLaunchKernelWithHostArgs(trap, i % 2 ? 1 : 4, stream, nullptr, &none, 8, nullptr, 0), 0);
                for (int j = 0; j < 10; ++j) EXPECT_EQ(add(stream, 0), ACL_SUCCESS);
                if (i % 3 == 0) EXPECT_ACL_OK(aclrtStreamAbort(stream));
                EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
            }
            end.store(true);
        } else {
            for (int i = 0; i < 500 || !end.load(); ++i) {
                ASSERT_EQ(add(stream, i < 500 ? 1 : 0), ACL_SUCCESS);
                if (i % 50 == 0) EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
            }
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        }
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
    EXPECT_EQ(total(), 1500u);
}

TEST_F(Threads, ContextsEndWhileOthersMakeStreamsInThem) {
    for (int round = 0; round < 20; ++round) {
        aclrtContext context = nullptr;
        ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
        ASSERT_ACL_OK(aclrtSetCurrentContext(context_));
        in_threads(4, [&](int t) {
            if (t == 0) {
                EXPECT_ACL_OK(aclrtDestroyContext(context));
                return;
            }
            if (aclrtSetCurrentContext(context) != ACL_SUCCESS) return;
            for (int i = 0; i < 20; ++i) {
                aclrtStream stream = nullptr;
                const aclError code = aclrtCreateStream(&stream);
                if (code != ACL_SUCCESS) {
                    EXPECT_EQ(code, ACL_ERROR_RT_CONTEXT_NULL);
                    return;
                }
            }
        });
    }
}

TEST_F(Threads, ThatEndLeaveTheirWorkBehind) {
    for (int round = 0; round < 30; ++round)
        std::thread([&] {
            EXPECT_ACL_OK(aclrtSetCurrentContext(context_));
            for (int i = 0; i < 100; ++i) EXPECT_EQ(add(i % 2 ? stream_ : nullptr), ACL_SUCCESS);
            if (round % 3 == 0) EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
        }).join();
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    if (device_computes()) EXPECT_EQ(total(), 3000u);
}

}  // namespace
}  // namespace conformance
