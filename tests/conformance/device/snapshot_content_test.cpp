// SPDX-License-Identifier: Apache-2.0
// Snapshots: what comes back.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "fixtures/snapshot_fixture.h"
#include "until.h"

namespace conformance {
namespace {

using namespace snapshot;

// A held stream watches a word, which a restore writes as a whole; the thread sanitizer cannot know that.
bool stream_can_be_held() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return device_computes();
#endif
}

class SnapshotContent : public SnapshotTest {};

TEST_F(SnapshotContent, MemoryIsWhatItWas) {
    constexpr std::size_t large = std::size_t{9} << 20;
    const std::vector<uint32_t> values{1, 2, 3, 4, 5};
    uint32_t* small = device_array(values);
    auto* big = static_cast<char*>(device_memory(large));
    auto* part = static_cast<char*>(device_memory(large));  // touched here and there
    std::vector<char> pattern(large);
    for (std::size_t i = 0; i < large; i += 512) std::memset(pattern.data() + i, static_cast<int>(i / 512 % 251), 512);
    ASSERT_ACL_OK(aclrtMemcpy(big, large, pattern.data(), large, ACL_MEMCPY_HOST_TO_DEVICE));
    fill_memory(part, large, 0);
    fill_memory(part + 8192, 100, 5);
    around([&] {
        fill_memory(small, 20, 9);
        fill_memory(big, large, 9);
        fill_memory(part, large, 9);
    });
    EXPECT_EQ(read_back(small, 5), values);
    EXPECT_TRUE(read_back(big, large) == pattern);
    std::vector<char> expected(large, 0);
    std::fill_n(expected.begin() + 8192, 100, 5);
    EXPECT_TRUE(read_back(part, large) == expected);
}

// Fresh pages of a device read as zero; a snapshot that leaves them out brings the zeros back.
TEST_F(SnapshotContent, UntouchedMemoryIsUntouchedAgain) {
    constexpr std::size_t size = std::size_t{9} << 20;
    auto* memory = static_cast<char*>(device_memory(size));
    const std::vector<char> before = read_back(memory + size / 2, 4096);
    fill_memory(memory + size - 4096, 4096, 3);
    around([&] { fill_memory(memory, size, 9); });
    EXPECT_EQ(read_back(memory + size / 2, 4096), before);
    EXPECT_EQ(read_back(memory + size - 4096, 4096), std::vector<char>(4096, 3));
}

TEST_F(SnapshotContent, ManyBlocksOfManySizes) {
    std::vector<std::pair<char*, std::size_t>> blocks;
    for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t size = 1 + i * i * 37 % 9000;
        blocks.emplace_back(static_cast<char*>(device_memory(size)), size);
        fill_memory(blocks.back().first, size, static_cast<int>(i % 251));
    }
    around([&] {
        for (const auto& [memory, size] : blocks) fill_memory(memory, size, 255);
    });
    for (std::size_t i = 0; i < blocks.size(); ++i)
        EXPECT_EQ(read_back(blocks[i].first, blocks[i].second),
                  std::vector<char>(blocks[i].second, static_cast<char>(i % 251)));
}

TEST_F(SnapshotContent, FreedMemoryIsSkippedAndNewMemoryKeepsItsData) {
    constexpr std::size_t size = 8192;
    void *freed = nullptr, *fresh[8] = {};
    ASSERT_ACL_OK(aclrtMalloc(&freed, size, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_memory(freed, size, 1);
    auto* kept = static_cast<char*>(device_memory(size));
    fill_memory(kept, size, 2);
    // One of the new blocks gets the place of the freed one.
    bool reused = false;
    around([&] {
        EXPECT_ACL_OK(aclrtFree(freed));
        for (void*& each : fresh) {
            EXPECT_ACL_OK(aclrtMalloc(&each, size, ACL_MEM_MALLOC_HUGE_FIRST));
            fill_memory(each, size, 7);
            reused = reused || each == freed;
        }
        fill_memory(kept, size, 7);
    });
    if (!checking_mode()) EXPECT_TRUE(reused);  // freed addresses rest there
    for (void* each : fresh) {
        EXPECT_EQ(read_back(static_cast<char*>(each), size), std::vector<char>(size, 7));
        EXPECT_ACL_OK(aclrtFree(each));
    }
    EXPECT_EQ(read_back(kept, size), std::vector<char>(size, 2));
}

TEST_F(SnapshotContent, ManagedMemoryIsWhatItWas) {
    constexpr std::size_t size = std::size_t{4} << 20;
    char *kept = nullptr, *freed = nullptr, *fresh = nullptr;
    ASSERT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&kept), size, ACL_RT_MEM_ATTACH_GLOBAL));
    ASSERT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&freed), size, ACL_RT_MEM_ATTACH_GLOBAL));
    std::memset(kept + 5000, 3, 10000);
    std::memset(freed, 3, size);
    around([&] {
        std::memset(kept, 9, size);  // also where nothing was
        EXPECT_ACL_OK(aclrtFree(freed));
        EXPECT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&fresh), size, ACL_RT_MEM_ATTACH_GLOBAL));
        std::memset(fresh, 8, size);
    });
    std::vector<char> expected(size, 0);
    std::fill_n(expected.begin() + 5000, 10000, 3);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), kept));
    EXPECT_EQ(fresh[0], 8);
    EXPECT_EQ(fresh[size - 1], 8);
    EXPECT_ACL_OK(aclrtFree(kept));
    EXPECT_ACL_OK(aclrtFree(fresh));
}

// The program can write managed memory without any call, so also while the process is locked.
TEST_F(SnapshotContent, ManagedMemoryWrittenByTheProgramComesBack) {
    char* memory = nullptr;
    ASSERT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&memory), 4096, ACL_RT_MEM_ATTACH_GLOBAL));
    memory[17] = 4;
    ASSERT_ACL_OK(lock());
    ASSERT_ACL_OK(backup());
    memory[17] = 5;
    ASSERT_ACL_OK(restore());
    EXPECT_EQ(memory[17], 4);
    memory[17] = 6;
    ASSERT_ACL_OK(backup());
    memory[17] = 7;
    ASSERT_ACL_OK(unlock());  // without a restore
    EXPECT_EQ(memory[17], 7);
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SnapshotContent, PhysicalMemoryIsWhatItWas) {
    if (!device_maps_memory()) GTEST_SKIP() << "this device maps nothing";
    constexpr std::size_t page = std::size_t{2} << 20;
    aclrtPhysicalMemProp properties = {};
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handles[3] = {};
    void* address = nullptr;
    ASSERT_ACL_OK(aclrtReserveMemAddress(&address, 3 * page, 0, nullptr, 0));
    auto* memory = static_cast<char*>(address);
    for (int i = 0; i < 3; ++i) {
        ASSERT_ACL_OK(aclrtMallocPhysical(&handles[i], page, &properties, 0));
        ASSERT_ACL_OK(aclrtMapMem(memory + i * page, page, 0, handles[i], 0));
    }
    fill_memory(memory, 2 * page, 4);
    // The first one has only its mapping left, the second none, the third is new and untouched.
    ASSERT_ACL_OK(aclrtFreePhysical(handles[0]));
    ASSERT_ACL_OK(aclrtUnmapMem(memory + page));
    around([&] {
        fill_memory(memory, page, 9);
        EXPECT_ACL_OK(aclrtMapMem(memory + page, page, 0, handles[1], 0));
        fill_memory(memory + page, 2 * page, 9);
    });
    EXPECT_EQ(read_back(memory, 2 * page), std::vector<char>(2 * page, 4));
    EXPECT_EQ(read_back(memory + 2 * page, page), std::vector<char>(page, 0));
    for (int i = 0; i < 3; ++i) EXPECT_ACL_OK(aclrtUnmapMem(memory + i * page));
    EXPECT_ACL_OK(aclrtFreePhysical(handles[1]));
    EXPECT_ACL_OK(aclrtFreePhysical(handles[2]));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
}

TEST_F(SnapshotContent, VariablesThatTheProgramKnowsAreWhatTheyWere) {
    if (!device_computes()) GTEST_SKIP() << "this device has no variables";
    void* variable = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtBinaryGetGlobal(binary_, "global_word", &variable, &size));
    const std::vector<char> before = read_back(static_cast<char*>(variable), size);
    around([&] { fill_memory(variable, size, 9); });
    EXPECT_EQ(read_back(static_cast<char*>(variable), size), before);
}

TEST_F(SnapshotContent, WorkBeforeItIsPartOfIt) {
    if (!device_computes()) GTEST_SKIP() << "needs kernels";
    auto* counter = device_array<uint32_t>({0});
    for (int i = 0; i < 500; ++i) ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    around([&] { fill_memory(counter, 4, 0); });
    EXPECT_EQ(read_back(counter, 1)[0], 500u);
}

TEST_F(SnapshotContent, StreamsAndGraphsGoOnAfterwards) {
    if (!device_computes()) GTEST_SKIP() << "needs kernels";
    auto* counter = device_array<uint32_t>({0});
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    around([&] {
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));  // undone by the restore
        EXPECT_ACL_OK(launch("increment", 1, stream_, counter));
    });
    EXPECT_EQ(read_back(counter, 1)[0], 2u);
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(launch("increment", 1, stream_, counter));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 5u);
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
}

TEST_F(SnapshotContent, AStreamThatWaitsStaysAsItIs) {
    if (!stream_can_be_held()) GTEST_SKIP() << "needs a stream that can be held";
    auto* counter = device_array<uint32_t>({0});
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    around([&] { fill_memory(counter, 4, 1); });
    EXPECT_TRUE(stands_still(stream_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 1u);
}

TEST_F(SnapshotContent, BackupWaitsForAHostFunction) {
    struct Held {
        std::atomic<bool> begun{false}, go{false};
        char* memory = nullptr;
    } held;
    ASSERT_ACL_OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&held.memory), 64, ACL_RT_MEM_ATTACH_GLOBAL));
    held.memory[0] = 1;
    ASSERT_ACL_OK(aclrtLaunchHostFunc(
        stream_,
        [](void* data) {
            auto& all = *static_cast<Held*>(data);
            all.begun = true;
            EXPECT_TRUE(eventually([&] { return all.go.load(); }));
            all.memory[0] = 2;
        },
        &held));
    EXPECT_TRUE(eventually([&] { return held.begun.load(); }));
    ASSERT_ACL_OK(lock());
    {
        Caller backs_up("backup", [] { return backup(); });
        backs_up.go();
        EXPECT_TRUE(eventually([&] { return backs_up.stopped(); }));
        EXPECT_FALSE(backs_up.done());
        held.go = true;
        EXPECT_TRUE(eventually([&] { return backs_up.done(); }));
        EXPECT_EQ(backs_up.code(), 0);
    }
    held.memory[0] = 3;
    ASSERT_ACL_OK(restore());
    EXPECT_EQ(held.memory[0], 2);
    ASSERT_ACL_OK(unlock());
    EXPECT_ACL_OK(aclrtFree(held.memory));
}

TEST_F(SnapshotContent, EventsAreWhatTheyWere) {
    aclrtEvent recorded = nullptr, again = nullptr, never = nullptr, destroyed = nullptr;
    for (aclrtEvent* each : {&recorded, &again, &never, &destroyed})
        ASSERT_ACL_OK(aclrtCreateEventWithFlag(each, ACL_EVENT_SYNC));
    for (aclrtEvent each : {recorded, again}) ASSERT_ACL_OK(aclrtRecordEvent(each, stream_));
    around([&] {
        EXPECT_ACL_OK(aclrtResetEvent(recorded, stream_));
        for (int i = 0; i < 3; ++i) EXPECT_ACL_OK(aclrtRecordEvent(again, stream_));
        EXPECT_ACL_OK(aclrtRecordEvent(never, stream_));
        EXPECT_ACL_OK(aclrtDestroyEvent(destroyed));
    });
    const auto status = [](aclrtEvent event) {
        aclrtEventRecordedStatus found{};
        EXPECT_ACL_OK(aclrtQueryEventStatus(event, &found));
        return found;
    };
    EXPECT_EQ(status(recorded), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(status(again), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(status(never), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    if (stream_can_be_held()) {
        // A record after it is not taken for one of those that were undone.
        Gate gate;
        aclrtStream other = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&other));
        gate.hold(stream_);
        EXPECT_ACL_OK(aclrtRecordEvent(again, stream_));
        EXPECT_ACL_OK(aclrtStreamWaitEvent(other, again));
        EXPECT_EQ(status(again), ACL_EVENT_RECORDED_STATUS_NOT_READY);
        EXPECT_TRUE(stands_still(other));
        gate.open();
        EXPECT_ACL_OK(aclrtSynchronizeStream(other));
        EXPECT_EQ(status(again), ACL_EVENT_RECORDED_STATUS_COMPLETE);
        EXPECT_ACL_OK(aclrtDestroyStream(other));
    }
    for (aclrtEvent each : {recorded, again, never}) EXPECT_ACL_OK(aclrtDestroyEvent(each));
}

// A record that is still to come at the backup is reached later: the event is complete then, restored or not.
TEST_F(SnapshotContent, AnEventWhoseRecordIsToComeIsReached) {
    if (!stream_can_be_held()) GTEST_SKIP() << "needs a stream that can be held";
    aclrtEvent event = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    around([] {});
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(SnapshotContent, NotifiesAreWhatTheyWere) {
    aclrtNotify set = nullptr, unset = nullptr;
    aclrtCntNotify count = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&set, 0));
    ASSERT_ACL_OK(aclrtCreateNotify(&unset, 0));
    ASSERT_ACL_OK(aclrtCntNotifyCreate(&count, 0));
    aclrtCntNotifyRecordInfo record = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 5};
    ASSERT_ACL_OK(aclrtCntNotifyRecord(count, stream_, &record));
    ASSERT_ACL_OK(aclrtRecordNotify(set, stream_));
    around([&] {
        EXPECT_ACL_OK(aclrtWaitAndResetNotify(set, stream_, 0));
        EXPECT_ACL_OK(aclrtRecordNotify(unset, stream_));
        record.value = 9;
        EXPECT_ACL_OK(aclrtCntNotifyRecord(count, stream_, &record));
    });
    EXPECT_ACL_OK(aclrtWaitAndResetNotify(set, stream_, 0));
    aclrtCntNotifyWaitInfo wait = {};
    wait.mode = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE;
    wait.value = 5;
    EXPECT_ACL_OK(aclrtCntNotifyWaitWithTimeout(count, stream_, &wait));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) {
        EXPECT_ACL_OK(aclrtWaitAndResetNotify(unset, stream_, 0));
        EXPECT_TRUE(stands_still(stream_));
        aclrtStream other = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&other));
        EXPECT_ACL_OK(aclrtRecordNotify(unset, other));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_ACL_OK(aclrtDestroyStream(other));
    }
    for (aclrtNotify each : {set, unset}) EXPECT_ACL_OK(aclrtDestroyNotify(each));
    EXPECT_ACL_OK(aclrtCntNotifyDestroy(count));
}

TEST_F(SnapshotContent, AllDevicesAreSaved) {
    auto* here = static_cast<char*>(device_memory(4096));
    fill_memory(here, 4096, 1);
    ASSERT_ACL_OK(aclrtSetDevice(1));
    void* there = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&there, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_memory(there, 4096, 2);
    std::vector<std::int32_t> devices;
    at(ACL_RT_SNAPSHOT_BACKUP_PRE, [&](std::int32_t device) {
        devices.push_back(device);
        return 0u;
    });
    around([&] {
        fill_memory(here, 4096, 9);
        fill_memory(there, 4096, 9);
    });
    EXPECT_EQ(devices, (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(read_back(static_cast<char*>(there), 4096), std::vector<char>(4096, 2));
    EXPECT_EQ(read_back(here, 4096), std::vector<char>(4096, 1));
    EXPECT_ACL_OK(aclrtFree(there));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

}  // namespace
}  // namespace conformance
