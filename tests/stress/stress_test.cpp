// SPDX-License-Identifier: Apache-2.0
// Mixed calls from many threads on shared objects, with random destroys, unloads, aborts and faulty kernels. Calls on
// shared objects may fail with the codes for that; nothing may crash, hang or get lost. The work of each thread on its
// own stream must produce exact results whatever else happens, and at the end nothing is left alive.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "live_objects.h"

namespace {

constexpr int thread_count = 6;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<char> read_image() {
    std::ifstream file(CANOPY_TEST_KERNELS, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Objects that every thread uses and any thread may replace.
struct Shared {
    std::array<std::atomic<aclrtStream>, 6> streams{};
    std::array<std::atomic<aclrtEvent>, 8> events{};
    std::array<std::atomic<aclrtNotify>, 4> notifies{};
    std::array<std::atomic<aclrtBinHandle>, 2> binaries{};
    std::vector<char> image = read_image();
    std::atomic<std::uint64_t> host_calls{0}, unexpected{0}, faults{0};
    std::atomic<int> first_unexpected{0};
};
Shared* shared = nullptr;

void count_fault(aclrtExceptionInfo*) { ++shared->faults; }

class Thread {
public:
    Thread(std::uint64_t seed, std::uint64_t calls) : random_(seed), calls_(calls) {}

    void run() {
        ok(aclrtSetDevice(0));
        ok(aclrtCreateStream(&own_stream_));
        ok(aclrtMalloc(reinterpret_cast<void**>(&memory_), size, ACL_MEM_MALLOC_HUGE_FIRST));
        ok(aclrtMallocHost(reinterpret_cast<void**>(&host_), size));
        ok(aclrtMemset(memory_, size, 0, size));
        ok(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &own_binary_));
        ok(aclrtBinaryGetFunction(own_binary_, "increment", &increment_));
        ok(aclrtBinaryGetFunction(own_binary_, "identify", &identify_));
        for (std::uint64_t i = 0; i < calls_; ++i) step();
        finish();
    }
    std::uint64_t expected = 0, found = 0;

private:
    static constexpr std::size_t size = 64 * 1024;

    void ok(aclError code) {
        if (code == ACL_SUCCESS) return;
        int none = 0;
        shared->first_unexpected.compare_exchange_strong(none, code);
        ++shared->unexpected;
    }
    // For a call on an object that another thread may have destroyed or made fail.
    void may_fail(aclError code) {
        switch (code) {
            case ACL_SUCCESS:
            case ACL_ERROR_INVALID_PARAM:             // the slot is being refilled
            case ACL_ERROR_RT_INVALID_HANDLE:         // destroyed by another thread
            case ACL_ERROR_RT_STREAM_ABORT:           // aborted by another thread
            case ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:    // blocked in a wait
            case ACL_ERROR_RT_VECTOR_CORE_EXCEPTION:  // a faulty kernel
            case ACL_ERROR_RT_VECTOR_CORE_TIMEOUT:
            case ACL_ERROR_RT_WAIT_TIMEOUT:
                return;
            default:
                ok(code);
        }
        aclGetRecentErrMsg();
    }
    std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
    aclrtStream stream() { return shared->streams[pick(shared->streams.size())].load(); }
    aclrtEvent event() { return shared->events[pick(shared->events.size())].load(); }
    aclrtNotify notify() { return shared->notifies[pick(shared->notifies.size())].load(); }

    aclError launch(aclrtFuncHandle function, std::uint32_t blocks, aclrtStream stream, std::uint64_t first,
                    std::uint64_t second = 0) {
        std::uint64_t arguments[4] = {first, second, 0, 0};
        return aclrtLaunchKernelWithHostArgs(function, blocks, stream, nullptr, arguments, sizeof(arguments), nullptr,
                                             0);
    }

    void step() {
        switch (pick(100)) {
            case 0 ... 29:
                return own_work();
            case 30 ... 49:
                return shared_launch();
            case 50 ... 61:
                return events_and_notifies();
            case 62 ... 69:
                return memory();
            case 70 ... 77:
                return copies();
            case 78 ... 83:
                return faulty();
            case 84 ... 88:
                return host_function();
            case 89 ... 93:
                return may_fail(aclrtSynchronizeStreamWithTimeout(stream(), 1));
            case 94 ... 96:
                return replace_event_or_notify();
            case 97:
                return replace_stream();
            case 98:
                return may_fail(aclrtStreamAbort(stream()));
            default:
                if (pick(8) == 0) replace_binary();
        }
    }

    void own_work() {
        ok(launch(increment_, 1, own_stream_, reinterpret_cast<std::uint64_t>(memory_)));
        ++expected;
        if (pick(16) == 0)
            ok(launch(identify_, 1 + pick(12), own_stream_, reinterpret_cast<std::uint64_t>(memory_ + 64)));
        if (pick(32) == 0) ok(aclrtSynchronizeStream(own_stream_));
    }

    void shared_launch() {
        aclrtFuncHandle function = nullptr;
        const aclrtBinHandle binary = shared->binaries[pick(shared->binaries.size())].load();
        const aclError code = aclrtBinaryGetFunction(binary, "identify", &function);
        may_fail(code);
        if (code != ACL_SUCCESS) return;
        may_fail(launch(function, 1 + pick(6), stream(), reinterpret_cast<std::uint64_t>(memory_ + 128)));
    }

    void events_and_notifies() {
        switch (pick(6)) {
            case 0:
                return may_fail(aclrtRecordEvent(event(), stream()));
            case 1:
                return may_fail(aclrtStreamWaitEvent(stream(), event()));
            case 2:
                return may_fail(aclrtRecordNotify(notify(), stream()));
            case 3:
                return may_fail(aclrtWaitAndResetNotify(notify(), stream(), 1));
            case 4: {
                aclrtEventRecordedStatus status;
                return may_fail(aclrtQueryEventStatus(event(), &status));
            }
            default: {
                aclrtStreamStatus status;
                return may_fail(aclrtStreamQuery(stream(), &status));
            }
        }
    }

    void memory() {
        void* block = nullptr;
        ok(aclrtMalloc(&block, 1 + pick(1 << 20), ACL_MEM_MALLOC_NORMAL_ONLY));
        ok(aclrtFree(block));
    }

    void copies() {
        ok(aclrtMemcpyAsync(memory_ + 4096, 4096, host_, 4096, ACL_MEMCPY_HOST_TO_DEVICE, own_stream_));
        ok(aclrtMemsetAsync(memory_ + 8192, 4096, 7, 4096, own_stream_));
        ok(aclrtValueWrite(memory_ + 4096, 1, 0, own_stream_));
        ok(aclrtValueWait(memory_ + 4096, 1, 1, own_stream_));
    }

    void faulty() {
        static constexpr const char* names[] = {"trap_always", "store_at", "overflow_stack"};
        const std::uint32_t which = pick(3);
        aclrtFuncHandle function = nullptr;
        const aclError code =
            aclrtBinaryGetFunction(shared->binaries[pick(shared->binaries.size())].load(), names[which], &function);
        may_fail(code);
        if (code != ACL_SUCCESS) return;
        // store_at writes to an unmapped page; overflow_stack never gets to write its result
        const std::uint64_t address = which == 1 ? 8 : reinterpret_cast<std::uint64_t>(memory_ + 256);
        may_fail(launch(function, 1, stream(), address));
    }

    void host_function() {
        may_fail(aclrtLaunchHostFunc(
            stream(), [](void*) { ++shared->host_calls; }, nullptr));
    }

    void replace_event_or_notify() {
        if (pick(2) == 0) {
            aclrtEvent fresh = nullptr;
            ok(aclrtCreateEventExWithFlag(&fresh, ACL_EVENT_SYNC));
            may_fail(aclrtDestroyEvent(shared->events[pick(shared->events.size())].exchange(fresh)));
        } else {
            aclrtNotify fresh = nullptr;
            ok(aclrtCreateNotify(&fresh, 0));
            may_fail(aclrtDestroyNotify(shared->notifies[pick(shared->notifies.size())].exchange(fresh)));
        }
    }

    void replace_stream() {
        aclrtStream fresh = nullptr;
        ok(aclrtCreateStreamWithConfig(&fresh, pick(8), 0));
        may_fail(aclrtDestroyStreamForce(shared->streams[pick(shared->streams.size())].exchange(fresh)));
    }

    void replace_binary() {
        aclrtBinHandle fresh = nullptr;
        ok(aclrtBinaryLoadFromData(shared->image.data(), shared->image.size(), nullptr, &fresh));
        may_fail(aclrtBinaryUnLoad(shared->binaries[pick(shared->binaries.size())].exchange(fresh)));
    }

    void finish() {
        ok(aclrtSynchronizeStream(own_stream_));
        std::uint32_t counter = 0;
        ok(aclrtMemcpy(&counter, sizeof(counter), memory_, sizeof(counter), ACL_MEMCPY_DEVICE_TO_HOST));
        found = counter;
        ok(aclrtDestroyStream(own_stream_));
        ok(aclrtBinaryUnLoad(own_binary_));
    }

public:
    // Call after all shared streams are destroyed, since their kernels write here.
    void release() {
        ok(aclrtFree(memory_));
        ok(aclrtFreeHost(host_));
    }

private:
    std::mt19937_64 random_;
    const std::uint64_t calls_;
    aclrtStream own_stream_ = nullptr;
    aclrtBinHandle own_binary_ = nullptr;
    aclrtFuncHandle increment_ = nullptr, identify_ = nullptr;
    char* memory_ = nullptr;
    char* host_ = nullptr;
};

TEST(Stress, NothingIsLostWhileEverythingEndsUnderEachOthersHands) {
    const std::uint64_t calls = setting("CANOPY_STRESS_CALLS", 4000);
    const std::uint64_t seed = setting("CANOPY_STRESS_SEED", 1);
    Shared objects;
    shared = &objects;
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&count_fault), ACL_SUCCESS);
    for (auto& slot : objects.streams) {
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        slot = stream;
    }
    for (auto& slot : objects.binaries) {
        aclrtBinHandle binary = nullptr;
        ASSERT_EQ(aclrtBinaryLoadFromData(objects.image.data(), objects.image.size(), nullptr, &binary), ACL_SUCCESS);
        slot = binary;
    }

    std::vector<Thread> threads;
    for (int i = 0; i < thread_count; ++i) threads.emplace_back(seed * 1000 + static_cast<std::uint64_t>(i), calls);
    std::vector<std::thread> running;
    for (Thread& thread : threads) running.emplace_back([&thread] { thread.run(); });
    for (std::thread& thread : running) thread.join();

    for (auto& slot : objects.streams) EXPECT_EQ(aclrtDestroyStreamForce(slot), ACL_SUCCESS);
    for (auto& slot : objects.events)
        if (slot.load()) EXPECT_EQ(aclrtDestroyEvent(slot), ACL_SUCCESS);
    for (auto& slot : objects.notifies)
        if (slot.load()) EXPECT_EQ(aclrtDestroyNotify(slot), ACL_SUCCESS);
    for (auto& slot : objects.binaries) EXPECT_EQ(aclrtBinaryUnLoad(slot), ACL_SUCCESS);
    for (Thread& thread : threads) {
        EXPECT_EQ(thread.found, thread.expected);
        thread.release();
    }
    EXPECT_EQ(objects.unexpected, 0u) << "first code: " << objects.first_unexpected;
    EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&count_fault), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    expect_nothing_alive();
    RecordProperty("faults", static_cast<int>(objects.faults.load()));
    std::printf("%llu calls, %llu faults, %llu host calls\n", static_cast<unsigned long long>(calls * thread_count),
                static_cast<unsigned long long>(objects.faults), static_cast<unsigned long long>(objects.host_calls));
    shared = nullptr;
}

}  // namespace
