// SPDX-License-Identifier: Apache-2.0
// Devices of two kinds in one program: device 0 is the software NPU, device 1 runs its kernels in a separate process.
// Events, notifies and copies work between them, and the end of that process is a failure of its device alone.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class TwoKinds : public KernelTest {
protected:
    void SetUp() override {
        const char* kinds = std::getenv("CANOPY_DEVICE");
        runs_ = kinds && std::string(kinds) == "soft,apart";
        if (!runs_) GTEST_SKIP() << "needs CANOPY_DEVICE=soft,apart";
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtGetCurrentContext(&contexts_[0]));
        ASSERT_ACL_OK(aclrtSetDevice(1));
        ASSERT_ACL_OK(aclrtGetCurrentContext(&contexts_[1]));
        ASSERT_ACL_OK(aclrtCreateStream(&there_));
        ASSERT_ACL_OK(aclrtMalloc(reinterpret_cast<void**>(&memory_there_), size, ACL_MEM_MALLOC_HUGE_FIRST));
        ASSERT_ACL_OK(aclrtMemset(memory_there_, size, 0, size));
        ASSERT_ACL_OK(aclrtDeviceEnablePeerAccess(0, 0));
        use(0);
        ASSERT_ACL_OK(aclrtDeviceEnablePeerAccess(1, 0));
        memory_ = device_array<uint32_t>(std::vector<uint32_t>(size / 4));
    }
    void TearDown() override {
        if (!runs_) return;
        use(1);
        EXPECT_ACL_OK(aclrtFree(memory_there_));
        EXPECT_ACL_OK(aclrtResetDevice(1));
        use(0);
        KernelTest::TearDown();
    }
    // Makes the device's context current.
    void use(int device) { EXPECT_ACL_OK(aclrtSetCurrentContext(contexts_[device])); }
    void increment_here() {
        use(0);
        EXPECT_ACL_OK(launch("increment", 1, stream_, memory_));
    }
    void increment_there() {
        use(1);
        EXPECT_ACL_OK(launch("increment", 1, there_, memory_there_));
    }
    static constexpr size_t size = 4096;
    bool runs_ = false;
    aclrtContext contexts_[2] = {};
    aclrtStream there_ = nullptr;
    uint32_t *memory_ = nullptr, *memory_there_ = nullptr;
};

TEST_F(TwoKinds, EachRunsItsKernels) {
    increment_here();
    increment_there();
    increment_there();
    ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    EXPECT_EQ(read_back(memory_there_, 1)[0], 2u);
    use(0);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(memory_, 1)[0], 1u);
}

TEST_F(TwoKinds, CopiesGoBothWays) {
    std::vector<uint32_t> values(size / 4);
    for (uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761u;
    ASSERT_ACL_OK(aclrtMemcpy(memory_, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtMemcpy(memory_there_, size, memory_, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_EQ(read_back(memory_there_, values.size()), values);
    increment_there();
    ASSERT_ACL_OK(aclrtMemcpyAsync(memory_, size, memory_there_, size, ACL_MEMCPY_DEVICE_TO_DEVICE, there_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    ++values[0];
    EXPECT_EQ(read_back(memory_, values.size()), values);
    use(0);
}

TEST_F(TwoKinds, StreamsWaitForEachOthersEvents) {
    aclrtEvent here = nullptr, there = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&here));
    use(1);
    ASSERT_ACL_OK(aclrtCreateEvent(&there));
    for (uint32_t round = 0; round < 50; ++round) {
        increment_here();
        ASSERT_ACL_OK(aclrtRecordEvent(here, stream_));
        use(1);
        ASSERT_ACL_OK(aclrtStreamWaitEvent(there_, here));
        ASSERT_ACL_OK(aclrtMemcpyAsync(memory_there_, 4, memory_, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, there_));
        increment_there();
        ASSERT_ACL_OK(aclrtRecordEvent(there, there_));
        use(0);
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, there));
        ASSERT_ACL_OK(aclrtMemcpyAsync(memory_, 4, memory_there_, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(memory_, 1)[0], 100u);
    EXPECT_ACL_OK(aclrtDestroyEvent(here));
    EXPECT_ACL_OK(aclrtDestroyEvent(there));
}

TEST_F(TwoKinds, NotifiesAreRecordedOnOneAndAwaitedOnTheOther) {
    aclrtNotify notify = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&notify, 0));
    use(1);
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify, there_, 0));
    increment_there();
    EXPECT_TRUE(stands_still(there_));
    increment_here();
    ASSERT_ACL_OK(aclrtRecordNotify(notify, stream_));
    use(1);
    ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    EXPECT_EQ(read_back(memory_there_, 1)[0], 1u);
    use(0);
    EXPECT_ACL_OK(aclrtDestroyNotify(notify));
}

TEST_F(TwoKinds, AGraphBelongsToItsKind) {
    use(1);
    ASSERT_ACL_OK(aclmdlRICaptureBegin(there_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ASSERT_ACL_OK(launch("increment", 1, there_, memory_there_));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(there_, &graph));
    for (int i = 0; i < 3; ++i) ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, there_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    EXPECT_EQ(read_back(memory_there_, 1)[0], 3u);
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    use(0);
}

// ---- the end of the process ----------------------------------------------------------------------------------------

std::vector<pid_t> processes_of_devices() {
    std::vector<pid_t> found;
    DIR* tasks = opendir("/proc/self/task");
    while (const dirent* task = tasks ? readdir(tasks) : nullptr) {
        std::ifstream children(std::string("/proc/self/task/") + task->d_name + "/children");
        for (pid_t child = 0; children >> child;) {
            std::string name;
            std::ifstream("/proc/" + std::to_string(child) + "/comm") >> name;
            if (name == "canopy-device") found.push_back(child);
        }
    }
    if (tasks) closedir(tasks);
    return found;
}

int open_files() {
    int count = 0;
    DIR* files = opendir("/proc/self/fd");
    while (files && readdir(files)) ++count;
    if (files) closedir(files);
    return count;
}

class DeviceLoss : public TwoKinds {
protected:
    // False: it was not found.
    static bool end_process() {
        const std::vector<pid_t> all = processes_of_devices();
        return all.size() == 1 && kill(all[0], SIGKILL) == 0;
    }
    // Resets device 1, which starts its process again, and makes a stream.
    void bring_back() {
        ASSERT_ACL_OK(aclrtResetDeviceForce(1));
        ASSERT_ACL_OK(aclrtSetDevice(1));
        ASSERT_ACL_OK(aclrtGetCurrentContext(&contexts_[1]));
        ASSERT_ACL_OK(aclrtCreateStream(&there_));
        use(0);
    }
};

TEST_F(DeviceLoss, FailsWhatRunsThereAndNothingElse) {
    use(1);
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    void* pinned = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&pinned, 64));
    ASSERT_ACL_OK(launch("never_return", 1, there_, pinned));
    ASSERT_TRUE(eventually([&] { return __atomic_load_n(static_cast<uint32_t*>(pinned), __ATOMIC_ACQUIRE) != 0; }));
    ASSERT_TRUE(end_process());
    EXPECT_ACL_FAILS(ACL_ERROR_RT_LOST_HEARTBEAT, "signal 9", aclrtSynchronizeStream(there_));
    ASSERT_ACL_OK(launch("increment", 1, other, memory_there_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_LOST_HEARTBEAT, "signal 9", aclrtSynchronizeStream(other));
    increment_here();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(memory_, 1)[0], 1u);
    bring_back();
    increment_there();
    ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    EXPECT_EQ(read_back(memory_there_, 1)[0], 1u);
    use(0);
    EXPECT_ACL_OK(aclrtFreeHost(pinned));
}

TEST_F(DeviceLoss, MemoryKeepsItsContents) {
    const std::vector<uint32_t> values(size / 4, 7);
    ASSERT_ACL_OK(aclrtMemcpy(memory_there_, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_TRUE(end_process());
    EXPECT_TRUE(eventually([] { return processes_of_devices().empty(); }));
    EXPECT_EQ(read_back(memory_there_, values.size()), values);
    bring_back();
    EXPECT_EQ(read_back(memory_there_, values.size()), values);
}

TEST_F(DeviceLoss, AWildStoreDoesNotReachTheProgram) {
    uint32_t own = 1;
    use(1);
    ASSERT_ACL_OK(launch("store_at", 1, there_, &own, uint32_t{2}));
    aclrtSynchronizeStream(there_);  // an address of this process may be one of that process too
    EXPECT_EQ(own, 1u);
    recent_error();
    increment_there();
    if (aclrtSynchronizeStream(there_) != ACL_SUCCESS) bring_back();
    use(0);
}

// The number of rounds can be set: CANOPY_TEST_LOSSES=1000.
TEST_F(DeviceLoss, AtRandomMoments) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    int rounds = 10;
#else
    int rounds = 60;
#endif
    if (const char* wanted = std::getenv("CANOPY_TEST_LOSSES")) rounds = std::atoi(wanted);
    std::mt19937 random(42);
    int lost = 0, files = 0;
    for (int round = 0; round < rounds; ++round) {
        if (round == 1) files = open_files();
        use(1);
        aclrtEvent event = nullptr;
        aclrtFuncHandle increment = nullptr;
        ASSERT_ACL_OK(aclrtCreateEvent(&event));
        std::atomic<bool> missed{false};
        std::thread killer([&, delay = random() % 3000] {
            usleep(static_cast<useconds_t>(delay));  // the moment is the point
            if (!end_process()) missed = true;
        });
        // Any call may be the one that finds the process gone: the first launch of a round loads the kernel there.
        aclError code = ACL_SUCCESS;
        const auto next = [&](auto&& call) {
            if (code == ACL_SUCCESS) code = call();
        };
        while (code == ACL_SUCCESS && !missed) {
            next([&] { return aclrtBinaryGetFunction(binary_, "increment", &increment); });
            for (int i = 0; i < 5; ++i) next([&] { return launch(increment, 1 + i % 3, there_, memory_there_); });
            next([&] { return aclrtMemsetAsync(memory_there_, size, 0, size, there_); });
            next([&] { return aclrtRecordEvent(event, there_); });
            use(0);
            if (code == ACL_SUCCESS) EXPECT_ACL_OK(aclrtStreamWaitEvent(stream_, event));
            increment_here();
            use(1);
            next([&] { return aclrtSynchronizeStream(there_); });
        }
        killer.join();
        EXPECT_EQ(code, ACL_ERROR_RT_LOST_HEARTBEAT) << recent_error();
        if (code == ACL_ERROR_RT_LOST_HEARTBEAT) ++lost;
        use(0);
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));  // what waited for the lost device goes on
        use(1);
        ASSERT_ACL_OK(aclrtDestroyEvent(event));
        bring_back();
        increment_there();
        ASSERT_ACL_OK(aclrtSynchronizeStream(there_));
    }
    EXPECT_EQ(lost, rounds);
    EXPECT_LE(open_files(), files + 2);
    EXPECT_LE(processes_of_devices().size(), 1u);
    use(0);
}

}  // namespace
}  // namespace conformance
