// SPDX-License-Identifier: Apache-2.0
// Snapshots: the states of the process, who waits while it is locked, and the callbacks.
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "fixtures/own_process.h"
#include "fixtures/snapshot_fixture.h"
#include "until.h"

namespace conformance {
namespace {

using namespace snapshot;

class Snapshot : public SnapshotTest {};

// ---- states --------------------------------------------------------------------------------------------------------

TEST_F(Snapshot, EveryStepNeedsItsState) {
    // running
    EXPECT_ACL_FAILS(backup_failed, "must be locked", backup());
    EXPECT_ACL_FAILS(restore_failed, "must be backed up", restore());
    EXPECT_ACL_FAILS(unlock_failed, "it is running", unlock());
    ASSERT_ACL_OK(lock());
    EXPECT_ACL_FAILS(lock_failed, "it is locked", lock());
    EXPECT_ACL_FAILS(restore_failed, "must be backed up", restore());
    ASSERT_ACL_OK(backup());
    EXPECT_ACL_FAILS(lock_failed, "it is backed up", lock());
    EXPECT_ACL_FAILS(backup_failed, "it is backed up", backup());
    ASSERT_ACL_OK(restore());
    EXPECT_ACL_FAILS(restore_failed, "it is locked", restore());
    ASSERT_ACL_OK(backup());  // once more, from locked
    ASSERT_ACL_OK(unlock());  // from backed up
    EXPECT_ACL_FAILS(restore_failed, "it is running", restore());
    ASSERT_ACL_OK(lock());
    ASSERT_ACL_OK(unlock());  // from locked
    EXPECT_ACL_FAILS(unlock_failed, "it is running", unlock());
}

TEST_F(Snapshot, OnlyThisProcessAndNoArguments) {
    aclrtSnapShotBackupArgs backup_arguments = {};
    aclrtSnapShotRestoreArgs restore_arguments = {};
    int reserved = 0;
    for (const int pid : {0, -1, getppid(), getpid() + 1}) {
        EXPECT_ACL_FAILS(100000, "pid", aclrtSnapShotProcessLock(pid, nullptr));
        EXPECT_ACL_FAILS(100000, "pid", aclrtSnapShotProcessBackup(pid, nullptr));
        EXPECT_ACL_FAILS(100000, "pid", aclrtSnapShotProcessRestore(pid, nullptr));
        EXPECT_ACL_FAILS(100000, "pid", aclrtSnapShotProcessUnlock(pid, nullptr));
    }
    EXPECT_ACL_FAILS(100000, "reserve", aclrtSnapShotProcessLock(getpid(), &reserved));
    ASSERT_ACL_OK(lock());  // the failed call has not locked
    EXPECT_ACL_FAILS(100000, "args", aclrtSnapShotProcessBackup(getpid(), &backup_arguments));
    ASSERT_ACL_OK(backup());
    EXPECT_ACL_FAILS(100000, "args", aclrtSnapShotProcessRestore(getpid(), &restore_arguments));
    ASSERT_ACL_OK(restore());
    EXPECT_ACL_FAILS(100000, "reserve", aclrtSnapShotProcessUnlock(getpid(), &reserved));
    ASSERT_ACL_OK(unlock());
}

TEST_F(Snapshot, OneThreadMayLockAndAnotherUnlock) {
    std::thread([] { EXPECT_ACL_OK(lock()); }).join();
    ASSERT_ACL_OK(backup());
    std::thread([] { EXPECT_ACL_OK(restore()); }).join();
    std::thread([] { EXPECT_ACL_OK(unlock()); }).join();
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(Snapshot, OnlyOneOfManyThreadsLocks) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> locked{0}, refused{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                const aclError code = lock();
                if (code == 0) ++locked;
                if (code == lock_failed) ++refused;
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(locked.load(), 1);
        EXPECT_EQ(refused.load(), 3);
        ASSERT_ACL_OK(unlock());
    }
}

// ---- who waits -----------------------------------------------------------------------------------------------------

TEST_F(Snapshot, CallsThatChangeDevicesWaitUntilItIsUnlocked) {
    auto* counter = device_array<uint32_t>({0});
    uint32_t host = 7;
    auto* pinned = static_cast<uint32_t*>(nullptr);
    ASSERT_ACL_OK(aclrtMallocHost(reinterpret_cast<void**>(&pinned), 64));
    auto* memory = static_cast<uint32_t*>(device_memory(64));
    void* freed = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtStream ended = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&ended));
    aclrtEvent event = nullptr, ended_event = nullptr, made_event = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&event));
    ASSERT_ACL_OK(aclrtCreateEvent(&ended_event));
    aclrtNotify ended_notify = nullptr, made_notify = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&ended_notify, 0));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    aclrtFuncHandle increment = function("increment");
    std::atomic<int> called{0};
    void *malloced = nullptr, *managed = nullptr;
    aclrtStream made = nullptr;
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtSetDevice(0));  // so that the device stays set when another thread resets it
    {
        std::vector<std::unique_ptr<Caller>> callers;
        const auto add = [&](const char* name, std::function<aclError()> call) {
            callers.push_back(std::make_unique<Caller>(name, std::move(call)));
        };
        add("malloc", [&] { return aclrtMalloc(&malloced, 64, ACL_MEM_MALLOC_HUGE_FIRST); });
        add("managed malloc", [&] { return aclrtMemAllocManaged(&managed, 64, ACL_RT_MEM_ATTACH_GLOBAL); });
        add("free", [&] { return aclrtFree(freed); });
        add("copy", [&] { return aclrtMemcpy(memory, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE); });
        add("copy in a stream",
            [&] { return aclrtMemcpyAsync(memory + 1, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_); });
        add("copy from pinned memory",
            [&] { return aclrtMemcpyAsync(memory + 2, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_); });
        add("set", [&] { return aclrtMemset(memory + 4, 4, 1, 4); });
        add("create stream", [&] { return aclrtCreateStream(&made); });
        add("destroy stream", [&] { return aclrtDestroyStream(ended); });
        add("create event", [&] { return aclrtCreateEvent(&made_event); });
        add("destroy event", [&] { return aclrtDestroyEvent(ended_event); });
        add("record event", [&] { return aclrtRecordEvent(event, stream_); });
        add("create notify", [&] { return aclrtCreateNotify(&made_notify, 0); });
        add("destroy notify", [&] { return aclrtDestroyNotify(ended_notify); });
        add("create context", [&] { return aclrtCreateContext(&context, 0); });
        add("set device", [&] { return aclrtSetDevice(0); });
        add("reset device", [&] { return aclrtResetDevice(0); });
        add("launch", [&] { return launch(increment, 1, stream_, counter); });
        add("launch in the default stream", [&] { return launch(increment, 1, nullptr, counter); });
        add("host function", [&] {
            return aclrtLaunchHostFunc(
                stream_, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &called);
        });
        add("replay", [&] { return aclmdlRIExecuteAsync(graph, stream_); });
        ASSERT_ACL_OK(lock());
        for (auto& caller : callers) caller->go();
        for (auto& caller : callers) {
            EXPECT_TRUE(eventually([&] { return caller->stopped(); })) << caller->name;
            EXPECT_FALSE(caller->done()) << caller->name;
        }
        EXPECT_ACL_OK(backup());
        EXPECT_ACL_OK(restore());
        for (auto& caller : callers) EXPECT_FALSE(caller->done()) << caller->name;
        ASSERT_ACL_OK(unlock());
        for (auto& caller : callers) {
            EXPECT_TRUE(eventually([&] { return caller->done(); })) << caller->name;
            EXPECT_EQ(caller->code(), 0) << caller->name;
        }
    }
    ASSERT_ACL_OK(aclrtSynchronizeDevice());
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 3u);
    EXPECT_EQ(called.load(), 1);
    EXPECT_EQ(read_back(memory, 2), (std::vector<uint32_t>{7, 7}));
    EXPECT_ACL_OK(aclrtFree(malloced));
    EXPECT_ACL_OK(aclrtFree(managed));
    EXPECT_ACL_OK(aclrtFreeHost(pinned));
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    EXPECT_ACL_OK(aclrtDestroyStream(made));
    for (aclrtEvent each : {event, made_event}) EXPECT_ACL_OK(aclrtDestroyEvent(each));
    EXPECT_ACL_OK(aclrtDestroyNotify(made_notify));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(Snapshot, QueriesAndSynchronisationDoNotWait) {
    auto* counter = device_array<uint32_t>({0});
    aclrtEvent event = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&event));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(lock());
    aclrtStreamStatus stream_status = ACL_STREAM_STATUS_RESERVED;
    aclrtEventRecordedStatus event_status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    size_t free_bytes = 0, total = 0;
    int32_t device = -1;
    aclrtPtrAttributes attributes = {};
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclrtStreamQuery(stream_, &stream_status));
    EXPECT_EQ(stream_status, ACL_STREAM_STATUS_COMPLETE);
    EXPECT_ACL_OK(aclrtQueryEventStatus(event, &event_status));
    EXPECT_EQ(event_status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    EXPECT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_ACL_OK(aclrtPointerGetAttributes(counter, &attributes));
    ASSERT_ACL_OK(unlock());
    EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(Snapshot, LockWaitsForACallThatIsInside) {
    if (!device_computes()) GTEST_SKIP() << "needs a stream that can be held";
    auto* word = device_array<uint64_t>({0});
    aclrtStream held = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&held));
    ASSERT_ACL_OK(aclrtValueWait(word, 1, 1, held));
    Caller destroys("destroy stream", [&] { return aclrtDestroyStream(held); });
    destroys.go();
    EXPECT_TRUE(eventually([&] { return destroys.stopped(); }));
    EXPECT_FALSE(destroys.done());
    Caller locks("lock", [] { return lock(); });
    locks.go();
    EXPECT_TRUE(eventually([&] { return locks.stopped(); }));
    EXPECT_FALSE(locks.done());
    // Streams still accept work, which ends the wait of the call inside.
    EXPECT_ACL_OK(aclrtValueWrite(word, 1, 0, stream_));
    EXPECT_TRUE(eventually([&] { return destroys.done() && locks.done(); }));
    EXPECT_EQ(destroys.code(), 0);
    EXPECT_EQ(locks.code(), 0);
    EXPECT_ACL_OK(unlock());
}

TEST_F(Snapshot, ACallThatChangesADeviceCannotLock) {
    static std::atomic<int> code{-1};
    code = -1;
    ASSERT_ACL_OK(aclrtRegDeviceStateCallback(
        "snapshot", [](int32_t, aclrtDeviceState, void*) { code = lock(); }, nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_EQ(code.load(), lock_failed);
    ASSERT_ACL_OK(aclrtRegDeviceStateCallback("snapshot", nullptr, nullptr));
    EXPECT_ACL_OK(aclrtResetDevice(0));
    ASSERT_ACL_OK(lock());
    ASSERT_ACL_OK(unlock());
}

// Threads that allocate, copy and launch all the time, while another locks and unlocks: nobody is inside when it is
// locked, and everybody goes on afterwards.
TEST_F(Snapshot, LocksUnderLoad) {
    auto* counter = device_array<uint64_t>({0});
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> launched{0}, calls{0};
    aclrtFuncHandle add = function("add_atomically");
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            while (!stop.load()) {
                if (i == 0) {
                    EXPECT_ACL_OK(launch(add, 1, stream_, counter, uint64_t{1}));
                    ++launched;
                } else {
                    void* memory = nullptr;
                    EXPECT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
                    EXPECT_ACL_OK(aclrtMemset(memory, 64, 1, 64));
                    EXPECT_ACL_OK(aclrtFree(memory));
                }
                ++calls;
            }
            EXPECT_ACL_OK(aclrtResetDevice(0));
        });
    for (int round = 0; round < 4; ++round) {
        const uint64_t before = calls.load();
        EXPECT_TRUE(eventually([&] { return calls.load() > before + 10; }));
        ASSERT_ACL_OK(lock());
        ASSERT_ACL_OK(backup());
        size_t free_bytes = 0, free_later = 0, total = 0;
        EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        ASSERT_ACL_OK(restore());
        EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_later, &total));
        EXPECT_EQ(free_bytes, free_later);
        ASSERT_ACL_OK(unlock());
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], launched.load());
}

// ---- callbacks -----------------------------------------------------------------------------------------------------

std::vector<std::string>& said() {
    static std::vector<std::string> words;
    return words;
}
template <int number>
std::uint32_t say(std::int32_t device, void* name) {
    said().push_back(std::to_string(number) + static_cast<const char*>(name) + std::to_string(device));
    return 0;
}

TEST_F(Snapshot, CallbacksRunInOrderOfRegistrationForEveryDevice) {
    said().clear();
    ASSERT_ACL_OK(aclrtSetDevice(1));
    const char* names[] = {" lock ", " backup ", " saved ", " restore ", " restored ", " unlocked "};
    for (int stage = 0; stage < 6; ++stage) {
        const auto which = static_cast<aclrtSnapShotStage>(stage);
        ASSERT_ACL_OK(aclrtSnapShotCallbackRegister(which, say<2>, const_cast<char*>(names[stage])));
        ASSERT_ACL_OK(aclrtSnapShotCallbackRegister(which, say<1>, const_cast<char*>(names[stage])));
    }
    const auto heard = [&](std::initializer_list<int> stages) {
        std::vector<std::string> expected;
        for (const int stage : stages)
            for (const char* number : {"2", "1"})
                for (const char* device : {"0", "1"}) expected.push_back(std::string(number) + names[stage] + device);
        EXPECT_EQ(said(), expected);
        said().clear();
    };
    ASSERT_ACL_OK(lock());
    heard({0});
    EXPECT_ACL_FAILS(lock_failed, "it is locked", lock());
    heard({0});  // before the check of the state
    EXPECT_ACL_FAILS(restore_failed, "must be backed up", restore());
    heard({});
    ASSERT_ACL_OK(backup());
    heard({1, 2});
    ASSERT_ACL_OK(restore());
    heard({3, 4});
    ASSERT_ACL_OK(unlock());
    heard({5});
    ASSERT_ACL_OK(aclrtResetDevice(1));
    for (int stage = 0; stage < 6; ++stage) {
        const auto which = static_cast<aclrtSnapShotStage>(stage);
        EXPECT_ACL_OK(aclrtSnapShotCallbackUnregister(which, say<1>));
        EXPECT_ACL_OK(aclrtSnapShotCallbackUnregister(which, say<2>));
    }
    ASSERT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(Snapshot, ADeviceThatIsResetHasNoCallbacks) {
    ASSERT_ACL_OK(aclrtSetDevice(1));
    ASSERT_ACL_OK(aclrtResetDevice(1));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    std::vector<std::int32_t> devices;
    at(ACL_RT_SNAPSHOT_LOCK_PRE, [&](std::int32_t device) {
        devices.push_back(device);
        return 0u;
    });
    ASSERT_ACL_OK(lock());
    ASSERT_ACL_OK(unlock());
    EXPECT_EQ(devices, std::vector<std::int32_t>{0});
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(Snapshot, RegistrationIsChecked) {
    constexpr auto stage = ACL_RT_SNAPSHOT_BACKUP_PRE;
    for (const int bad : {-1, 6, 100}) {
        EXPECT_ACL_FAILS(107000, "stage",
                         aclrtSnapShotCallbackRegister(static_cast<aclrtSnapShotStage>(bad), say<3>, nullptr));
        EXPECT_ACL_FAILS(107000, "stage",
                         aclrtSnapShotCallbackUnregister(static_cast<aclrtSnapShotStage>(bad), say<3>));
    }
    EXPECT_ACL_FAILS(107000, "callback", aclrtSnapShotCallbackRegister(stage, nullptr, nullptr));
    EXPECT_ACL_FAILS(107000, "callback", aclrtSnapShotCallbackUnregister(stage, nullptr));
    EXPECT_ACL_FAILS(107000, "not registered", aclrtSnapShotCallbackUnregister(stage, say<3>));
    ASSERT_ACL_OK(aclrtSnapShotCallbackRegister(stage, say<3>, nullptr));
    int other = 0;
    EXPECT_ACL_FAILS(507913, "already", aclrtSnapShotCallbackRegister(stage, say<3>, &other));
    EXPECT_ACL_OK(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_BACKUP_POST, say<3>, nullptr));
    EXPECT_ACL_OK(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_BACKUP_POST, say<3>));
    EXPECT_ACL_OK(aclrtSnapShotCallbackUnregister(stage, say<3>));
    EXPECT_ACL_FAILS(107000, "not registered", aclrtSnapShotCallbackUnregister(stage, say<3>));
}

TEST_F(Snapshot, ACallbackThatFailsEndsTheStepBeforeItsChangeOfState) {
    char* memory = nullptr;
    ASSERT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&memory), 64, ACL_RT_MEM_ATTACH_GLOBAL));
    int failing = -1;
    for (int stage = 0; stage < 6; ++stage)
        at(static_cast<aclrtSnapShotStage>(stage), [&, stage](std::int32_t) { return failing == stage ? 77u : 0u; });
    failing = ACL_RT_SNAPSHOT_LOCK_PRE;
    EXPECT_ACL_FAILS(callback_failed, "returned 77", lock());
    failing = -1;
    EXPECT_ACL_FAILS(unlock_failed, "running", unlock());
    ASSERT_ACL_OK(lock());
    for (const int stage : {ACL_RT_SNAPSHOT_BACKUP_PRE, ACL_RT_SNAPSHOT_BACKUP_POST}) {
        failing = stage;
        EXPECT_ACL_FAILS(callback_failed, "returned 77", backup());
        EXPECT_ACL_FAILS(restore_failed, "it is locked", restore());
    }
    failing = -1;
    memory[0] = 1;
    ASSERT_ACL_OK(backup());
    for (const int stage : {ACL_RT_SNAPSHOT_RESTORE_PRE, ACL_RT_SNAPSHOT_RESTORE_POST}) {
        failing = stage;
        memory[0] = 2;
        EXPECT_ACL_FAILS(callback_failed, "returned 77", restore());
        EXPECT_ACL_FAILS(backup_failed, "it is backed up", backup());
    }
    failing = -1;
    memory[0] = 2;
    ASSERT_ACL_OK(restore());  // what was saved is still there
    EXPECT_EQ(memory[0], 1);
    failing = ACL_RT_SNAPSHOT_UNLOCK_POST;
    EXPECT_ACL_FAILS(callback_failed, "returned 77", unlock());
    failing = -1;
    EXPECT_ACL_FAILS(unlock_failed, "running", unlock());  // it ran after the change of state
    EXPECT_ACL_OK(aclrtFree(memory));
}

// Neither a callback nor a thread it waits for can hang in a snapshot call.
TEST_F(Snapshot, SnapshotCallsInACallbackAreRefused) {
    int times = 0;
    const auto refused = [&](std::int32_t) {
        ++times;
        EXPECT_ACL_FAILS(lock_failed, "under way", lock());
        EXPECT_ACL_FAILS(backup_failed, "under way", backup());
        EXPECT_ACL_FAILS(restore_failed, "under way", restore());
        EXPECT_ACL_FAILS(unlock_failed, "under way", unlock());
        std::thread([] { EXPECT_EQ(unlock(), unlock_failed); }).join();
        EXPECT_ACL_OK(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, say<4>, nullptr));
        EXPECT_ACL_OK(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, say<4>));
        return 0u;
    };
    for (int stage = 0; stage < 6; ++stage) at(static_cast<aclrtSnapShotStage>(stage), refused);
    ASSERT_ACL_OK(lock());
    ASSERT_ACL_OK(backup());
    ASSERT_ACL_OK(restore());
    ASSERT_ACL_OK(unlock());
    EXPECT_EQ(times, 6);
}

// ---- the end -------------------------------------------------------------------------------------------------------

class SnapshotEnd : public testing::Test {};

TEST_F(SnapshotEnd, ExitUnlocks) {
    EXPECT_IN_OWN_PROCESS(([] {
        ASSERT_ACL_OK(aclInit(nullptr));
        std::atexit([] {
            void* memory = nullptr;
            const bool works = aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(memory) == 0;
            if (!works) std::_Exit(3);
        });
        ASSERT_ACL_OK(aclrtSetDevice(0));
        ASSERT_ACL_OK(lock());
        ASSERT_ACL_OK(backup());
    }));
}

TEST_F(SnapshotEnd, FinalizeUnlocks) {
    EXPECT_IN_OWN_PROCESS(([] {
        ASSERT_ACL_OK(aclInit(nullptr));
        ASSERT_ACL_OK(aclrtSetDevice(0));
        ASSERT_ACL_OK(lock());
        ASSERT_ACL_OK(aclFinalize());
        ASSERT_ACL_OK(aclInit(nullptr));
        ASSERT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_FAILS(unlock_failed, "running", unlock());
        ASSERT_ACL_OK(lock());
        ASSERT_ACL_OK(unlock());
        ASSERT_ACL_OK(aclFinalize());
    }));
}

// The address space is limited to what is in use, so that there is no room for the copy.
TEST_F(SnapshotEnd, ABackupWithoutMemoryFailsAndCanBeRepeated) {
    EXPECT_IN_OWN_PROCESS(([] {
        constexpr std::size_t size = std::size_t{64} << 20;
        ASSERT_ACL_OK(aclInit(nullptr));
        ASSERT_ACL_OK(aclrtSetDevice(0));
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
        ASSERT_ACL_OK(aclrtMemset(memory, size, 1, size));
        ASSERT_ACL_OK(lock());
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit old = {};
        ASSERT_EQ(getrlimit(RLIMIT_AS, &old), 0);
        const rlimit tight = {pages * static_cast<std::size_t>(getpagesize()) + size / 4, old.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
        EXPECT_ACL_FAILS(backup_failed, "to be saved", backup());
        ASSERT_EQ(setrlimit(RLIMIT_AS, &old), 0);
        EXPECT_ACL_FAILS(restore_failed, "it is locked", restore());
        EXPECT_ACL_OK(backup());
        EXPECT_ACL_OK(unlock());
        EXPECT_ACL_OK(aclrtFree(memory));
        ASSERT_ACL_OK(aclFinalize());
    }));
}

TEST_F(SnapshotEnd, WorksBeforeADeviceIsSet) {
    EXPECT_IN_OWN_PROCESS(([] {
        ASSERT_ACL_OK(lock());
        ASSERT_ACL_OK(backup());
        ASSERT_ACL_OK(restore());
        ASSERT_ACL_OK(unlock());
    }));
}

}  // namespace
}  // namespace conformance
