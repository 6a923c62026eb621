// SPDX-License-Identifier: Apache-2.0
// Notifies and events between processes.
#include <sys/wait.h>

#include <random>
#include <thread>

#include "share_fixture.h"

namespace {

// ---- notifies -------------------------------------------------------------------------------------------------------

class SharedNotify : public ShareTest {
protected:
    void SetUp() override {
        ShareTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateNotify(&notify_, 0));
    }
    void TearDown() override {
        if (notify_) EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
        ShareTest::TearDown();
    }
    std::string exported(std::uint64_t flags = 2) {
        char key[65] = {};
        EXPECT_ACL_OK(aclrtNotifyGetExportKey(notify_, key, sizeof key, flags));
        return key;
    }
    aclrtNotify notify_ = nullptr;
};

TEST_F(SharedNotify, ARecordOfAnotherProcessReleasesAStream) {
    const std::string key = exported();
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "notify " + key + " 0");
    std::uint32_t number = 0;
    ASSERT_ACL_OK(aclrtGetNotifyId(notify_, &number));
    EXPECT_EQ(peer.ask("notify_number 0").value, std::to_string(number));
    for (int round = 0; round < 100; ++round) {
        ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
        EXPECT_PEER(0, peer, "record_notify 0");
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    // Twice is once.
    EXPECT_PEER(0, peer, "record_notify 0");
    EXPECT_PEER(0, peer, "record_notify 0");
    EXPECT_PEER(0, peer, "synchronise");
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20), 507046);
    EXPECT_PEER(0, peer, "record_notify 0");
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_PEER(0, peer, "destroy_notify 0");
    EXPECT_PEER(107017, peer, "record_notify 0");
    EXPECT_EQ(peer.finish(), 0);
}

TEST_F(SharedNotify, TheCreatorsRecordsReleaseBothSides) {
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));  // before the export: counts
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    const std::string key = exported();
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "notify " + key + " 2");
    EXPECT_PEER(0, peer, "wait_notify 0");
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_PEER(0, peer, "synchronise");
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtNotifyBatchReset(&notify_, 1));
    EXPECT_PEER(0, peer, "wait_notify 0");
    peer.send("synchronise");
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_EQ(peer.receive().code, 0);
    EXPECT_EQ(peer.finish(), 0);
}

TEST_F(SharedNotify, WrongArgumentsHaveTheirCodes) {
    char key[65] = {};
    int32_t pid = getpid();
    EXPECT_EQ(aclrtNotifyGetExportKey(nullptr, key, 65, 0), 100000);
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, nullptr, 65, 0), 100000);
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, key, 0, 0), 107000);
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, key, 64, 0), 107000);
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, key, 65, 1), 107000);
    EXPECT_EQ(aclrtNotifyGetExportKey(stream_, key, 65, 0), 107017);
    EXPECT_EQ(aclrtNotifySetImportPid(notify_, &pid, 1), 107000);  // before the export
    EXPECT_EQ(aclrtNotifySetImportPid(notify_, nullptr, 1), 100000);
    EXPECT_EQ(aclrtNotifySetImportPid(notify_, &pid, 0), 107000);
    aclrtServerPid server{0, nullptr, 1};
    EXPECT_EQ(aclrtNotifySetImportPidInterServer(notify_, nullptr, 1), 107000);
    EXPECT_EQ(aclrtNotifySetImportPidInterServer(notify_, &server, 1), 107000);
    aclrtNotify imported = nullptr;
    EXPECT_EQ(aclrtNotifyImportByKey(nullptr, "x", 0), 100000);
    EXPECT_EQ(aclrtNotifyImportByKey(&imported, nullptr, 0), 100000);
    EXPECT_EQ(aclrtNotifyImportByKey(&imported, "x", 4), 107000);
    EXPECT_EQ(aclrtNotifyImportByKey(&imported, "x", 0), 107017);
    const std::string good = exported(0);
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, key, 65, 0), 507000);
    EXPECT_EQ(aclrtNotifyImportByKey(&imported, good.c_str(), 0), 207006);
    EXPECT_ACL_OK(aclrtNotifySetImportPid(notify_, &pid, 1));
    ASSERT_ACL_OK(aclrtNotifyImportByKey(&imported, good.c_str(), 0));
    EXPECT_EQ(aclrtNotifyGetExportKey(imported, key, 65, 0), 507000);
    EXPECT_ACL_OK(aclrtDestroyNotify(imported));
}

TEST_F(SharedNotify, OnlyListedProcessesImport) {
    const std::string key = exported(0);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(207006, peer, "notify " + key + " 0");
    int32_t pid = peer.process();
    aclrtServerPid server{0, &pid, 1};
    EXPECT_ACL_OK(aclrtNotifySetImportPidInterServer(notify_, &server, 1));
    EXPECT_PEER(0, peer, "notify " + key + " 0");
    EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
    notify_ = nullptr;
    EXPECT_PEER(107017, peer, "notify " + key + " 0");
    EXPECT_PEER(0, peer, "record_notify 0");  // it goes with the last of its users
}

TEST_F(SharedNotify, WaitsEndWhenTheOtherProcessDies) {
    const std::string key = exported();
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "notify " + key + " 0");
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    peer.kill();
    EXPECT_ACL_FAILS(507010, "ended", aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(SharedNotify, TheDeathOfTheCreatorIsReported) {
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    const std::string key = peer.ask("make_notify").value;
    aclrtNotify theirs = nullptr;
    ASSERT_ACL_OK(aclrtNotifyImportByKey(&theirs, key.c_str(), 0));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(theirs, stream_, 0));
    peer.kill();
    EXPECT_ACL_FAILS(507010, "ended", aclrtSynchronizeStream(stream_));
    EXPECT_TRUE(eventually([&] { return aclrtRecordNotify(theirs, stream_) == 507010; }));
    EXPECT_ACL_OK(aclrtDestroyNotify(theirs));
    EXPECT_EQ(aclrtNotifyImportByKey(&theirs, key.c_str(), 0), 107017);
}

TEST_F(SharedNotify, AForkedProcessHasNoneOfIt) {
    const std::string key = exported();
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "notify " + key + " 0");
    aclrtNotify theirs = nullptr;
    ASSERT_ACL_OK(aclrtNotifyImportByKey(&theirs, peer.ask("make_notify").value.c_str(), 0));
    aclrtEvent event = nullptr;
    aclrtIpcEventHandle handle{};
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    ASSERT_ACL_OK(aclrtIpcGetEventHandle(event, &handle));
    aclrtStream waiting = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&waiting));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, waiting, 0));
    const pid_t child = fork();
    if (child == 0) {
        int good = 0;
        for (const aclrtNotify each : {notify_, theirs}) {
            good += aclrtRecordNotify(each, stream_) == 107017;
            good += aclrtWaitAndResetNotify(each, stream_, 0) == 107017;
        }
        good += aclrtRecordEvent(event, stream_) == 107017;
        good += aclrtStreamWaitEvent(stream_, event) == 107017;
        good += aclrtSynchronizeEvent(event) == 107017;
        good += aclrtIpcGetEventHandle(event, &handle) == 107017;
        _exit(good);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 8);
    // Its end was nobody's death: the stream still waits, and for a record.
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting, 20), 507046);
    EXPECT_PEER(0, peer, "record_notify 0");
    ASSERT_ACL_OK(aclrtSynchronizeStream(waiting));
    ASSERT_ACL_OK(aclrtRecordNotify(theirs, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_PEER(0, peer, "wait_notify 1");
    EXPECT_PEER(0, peer, "synchronise");
    ASSERT_ACL_OK(aclrtDestroyStream(waiting));
    ASSERT_ACL_OK(aclrtDestroyEvent(event));
    ASSERT_ACL_OK(aclrtDestroyNotify(theirs));
}

TEST_F(SharedNotify, KillsAtAnyTimeLeaveItUsable) {
    const std::string key = exported();
    std::mt19937 random(11);
    std::size_t open_before = 0;
    for (int round = 0; round < 25; ++round) {
        Peer peer;
        EXPECT_PEER(0, peer, "start 0");
        peer.send("churn_notify " + key);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        peer.kill();
        if (round == 0) open_before = descriptors();
        // Whatever it left: the notify works.
        ASSERT_TRUE(eventually([&] { return aclrtNotifyBatchReset(&notify_, 1) == 0; }));
        ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
        ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before; }));
}

// ---- events ---------------------------------------------------------------------------------------------------------

class SharedEvent : public ShareTest {
protected:
    void SetUp() override {
        ShareTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_IPC));
    }
    void TearDown() override {
        if (event_) EXPECT_ACL_OK(aclrtDestroyEvent(event_));
        ShareTest::TearDown();
    }
    static std::string text(const aclrtIpcEventHandle& handle) {
        std::string hex;
        for (const char byte : handle.reserved) {
            char two[3];
            std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
            hex += two;
        }
        return hex;
    }
    std::string exported() {
        aclrtIpcEventHandle handle{};
        EXPECT_ACL_OK(aclrtIpcGetEventHandle(event_, &handle));
        return text(handle);
    }
    static aclrtEvent opened(const std::string& hex) {
        aclrtIpcEventHandle handle{};
        for (std::size_t i = 0; i < sizeof handle.reserved; ++i)
            handle.reserved[i] = static_cast<char>(std::strtoul(hex.substr(2 * i, 2).c_str(), nullptr, 16));
        aclrtEvent event = nullptr;
        EXPECT_ACL_OK(aclrtIpcOpenEventHandle(handle, &event));
        return event;
    }
    static int status(aclrtEvent event) {
        aclrtEventRecordedStatus status{};
        EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
        return status;
    }
    // Keeps the stream from going on until release().
    void hold() {
        ASSERT_ACL_OK(aclrtCreateNotify(&gate_, 0));
        ASSERT_ACL_OK(aclrtWaitAndResetNotify(gate_, stream_, 0));
    }
    void release() {
        aclrtStream other = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&other));
        ASSERT_ACL_OK(aclrtRecordNotify(gate_, other));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(aclrtDestroyStream(other));
        ASSERT_ACL_OK(aclrtDestroyNotify(gate_));
    }
    aclrtEvent event_ = nullptr;
    aclrtNotify gate_ = nullptr;
};

TEST_F(SharedEvent, WorksInOneProcess) {
    EXPECT_EQ(status(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);  // never recorded
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event_));
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
    hold();
    ASSERT_ACL_OK(aclrtRecordEvent(event_, stream_));
    EXPECT_EQ(status(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 20), 507047);
    aclrtStream second = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&second));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(second, event_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 20), 507046);
    release();
    ASSERT_ACL_OK(aclrtSynchronizeStream(second));
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
    EXPECT_EQ(status(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    for (int i = 0; i < 1000; ++i) ASSERT_ACL_OK(aclrtRecordEvent(event_, stream_));  // more than there are slots
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
    ASSERT_ACL_OK(aclrtDestroyStream(second));
}

TEST_F(SharedEvent, IsOneStateForAllProcesses) {
    const std::string handle = exported();
    EXPECT_EQ(exported(), handle);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "event " + handle);
    EXPECT_EQ(peer.ask("query_event 0").value, "1");
    hold();
    ASSERT_ACL_OK(aclrtRecordEvent(event_, stream_));
    EXPECT_EQ(peer.ask("query_event 0").value, "0");
    EXPECT_PEER(0, peer, "wait_event 0");
    peer.send("synchronise");
    release();
    EXPECT_EQ(peer.receive().code, 0);
    EXPECT_EQ(peer.ask("query_event 0").value, "1");
    EXPECT_PEER(0, peer, "record_event 0");
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
    EXPECT_EQ(status(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    // The stream of the other process waits; so do this stream and this thread.
    EXPECT_PEER(0, peer, "block");
    EXPECT_PEER(0, peer, "record_event 0");
    EXPECT_EQ(status(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 20), 507047);
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20), 507046);
    peer.kill();
    EXPECT_ACL_FAILS(507010, "ended", aclrtSynchronizeStream(stream_));
    EXPECT_ACL_FAILS(507010, "ended", aclrtSynchronizeEvent(event_));
    ASSERT_ACL_OK(aclrtRecordEvent(event_, stream_));  // a new record is a new start
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
}

TEST_F(SharedEvent, AThirdProcessIsWokenToo) {
    const std::string handle = exported();
    Peer one, two;
    for (const Peer* peer : {&one, &two}) {
        EXPECT_PEER(0, *peer, "start 0");
        EXPECT_PEER(0, *peer, "event " + handle);
    }
    for (int round = 0; round < 20; ++round) {
        EXPECT_PEER(0, one, "record_event 0");
        EXPECT_PEER(0, two, "wait_event 0");
        EXPECT_PEER(0, two, "synchronise");
        EXPECT_PEER(0, two, "record_event 0");
        EXPECT_PEER(0, one, "synchronise_event 0");
    }
    EXPECT_EQ(one.finish(), 0);
    EXPECT_EQ(two.finish(), 0);
}

TEST_F(SharedEvent, TheDeathOfTheCreatorIsReported) {
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    const std::string handle = peer.ask("make_event").value;
    const aclrtEvent event = opened(handle);
    EXPECT_PEER(0, peer, "block");
    EXPECT_PEER(0, peer, "record_event 0");
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event));
    std::thread host([&] {
        aclrtSetDevice(0);
        EXPECT_EQ(aclrtSynchronizeEvent(event), 507010);
    });
    peer.kill();
    EXPECT_ACL_FAILS(507010, "ended", aclrtSynchronizeStream(stream_));
    host.join();
    EXPECT_TRUE(eventually([&] { return aclrtRecordEvent(event, stream_) == 507010; }));
    EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(SharedEvent, WrongArgumentsHaveTheirCodes) {
    aclrtIpcEventHandle handle{};
    EXPECT_EQ(aclrtIpcGetEventHandle(nullptr, &handle), 100000);
    EXPECT_EQ(aclrtIpcGetEventHandle(event_, nullptr), 100000);
    EXPECT_EQ(aclrtIpcGetEventHandle(stream_, &handle), 107017);
    aclrtEvent plain = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
    EXPECT_EQ(aclrtIpcGetEventHandle(plain, &handle), 107000);
    ASSERT_ACL_OK(aclrtDestroyEvent(plain));
    EXPECT_EQ(aclrtIpcOpenEventHandle(handle, nullptr), 100000);
    EXPECT_EQ(aclrtIpcOpenEventHandle(handle, &plain), 107017);
    ASSERT_ACL_OK(aclrtIpcGetEventHandle(event_, &handle));
    for (std::size_t byte = 0; byte < 44; ++byte) {
        aclrtIpcEventHandle forged = handle;
        forged.reserved[byte] = static_cast<char>(forged.reserved[byte] ^ 0x10);
        if (byte >= 5 && byte < 8) continue;  // not used
        EXPECT_EQ(aclrtIpcOpenEventHandle(forged, &plain), 107017) << byte;
    }
    EXPECT_EQ(aclrtResetEvent(event_, stream_), 207000);
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(aclrtRecordEvent(event_, stream_), 207000);
    aclmdlRI graph = nullptr;
    aclmdlRICaptureEnd(stream_, &graph);
    if (graph) aclmdlRIDestroy(graph);
}

TEST_F(SharedEvent, KillsAtAnyTimeLeaveItUsable) {
    const std::string handle = exported();
    std::mt19937 random(5);
    for (int round = 0; round < 25; ++round) {
        Peer peer;
        EXPECT_PEER(0, peer, "start 0");
        EXPECT_PEER(0, peer, "event " + handle);
        peer.send("churn_event 0");
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event_));
        peer.kill();
        const int code = aclrtSynchronizeStream(stream_);
        ASSERT_TRUE(code == 0 || code == 507010) << code;
        ASSERT_ACL_OK(aclrtRecordEvent(event_, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeEvent(event_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

}  // namespace
