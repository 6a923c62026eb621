// SPDX-License-Identifier: Apache-2.0
// Many threads, and another process, on the same shared objects: what is done without locks, for the thread sanitizer.
#include <atomic>
#include <thread>

#include "share_fixture.h"

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int repeats = 60;
#else
constexpr int repeats = 300;
#endif
constexpr int thread_count = 4;

class SharingThreads : public ShareTest {
protected:
    // Runs it in several threads, each with its own stream.
    template <class Body>
    static void together(Body&& body) {
        std::vector<std::thread> threads;
        for (int number = 0; number < thread_count; ++number)
            threads.emplace_back([&body, number] {
                EXPECT_ACL_OK(aclrtSetDevice(0));
                aclrtStream stream = nullptr;
                EXPECT_ACL_OK(aclrtCreateStream(&stream));
                body(number, stream);
                EXPECT_ACL_OK(aclrtDestroyStream(stream));
            });
        for (std::thread& thread : threads) thread.join();
    }
    static bool may_come(int code) { return code == 0 || code == 507010; }
};

TEST_F(SharingThreads, StartThePorterTogether) {
    for (int round = 0; round < 10; ++round) {
        Peer peer;
        EXPECT_PEER(0, peer, "start 0");
        EXPECT_PEER(0, peer, "share_together");
        EXPECT_EQ(peer.finish(), 0);
    }
}

TEST_F(SharingThreads, ImportAndClose) {
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    // A close ends the oldest import of its key: threads need different ones.
    const std::string keys[2] = {peer.ask("export 65536 7").value, peer.ask("export 65536 7").value};
    const std::string notify = peer.ask("make_notify").value;
    together([&](int number, aclrtStream stream) {
        const std::string& memory = keys[number / 2];
        for (int i = 0; i < repeats; ++i) {
            if (number % 2 == 0) {
                void* address = nullptr;
                ASSERT_ACL_OK(aclrtIpcMemImportByKey(&address, memory.c_str(), 0));
                ASSERT_ACL_OK(aclrtMemsetAsync(address, 4096, 7, 4096, stream));
                ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
                ASSERT_ACL_OK(aclrtIpcMemClose(memory.c_str()));
            } else {
                aclrtNotify imported = nullptr;
                ASSERT_ACL_OK(aclrtNotifyImportByKey(&imported, notify.c_str(), 0));
                ASSERT_ACL_OK(aclrtRecordNotify(imported, stream));
                ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
                ASSERT_ACL_OK(aclrtDestroyNotify(imported));
            }
        }
    });
    EXPECT_EQ(peer.finish(), 0);
}

TEST_F(SharingThreads, WaitForOneNotify) {
    aclrtNotify notify = nullptr;
    char key[65] = {};
    ASSERT_ACL_OK(aclrtCreateNotify(&notify, 0));
    ASSERT_ACL_OK(aclrtNotifyGetExportKey(notify, key, sizeof key, 2));
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    peer.send(std::string("churn_notify ") + key);  // records for ever
    std::atomic<bool> over{false};
    std::thread recorder([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        while (!over.load()) {
            EXPECT_ACL_OK(aclrtRecordNotify(notify, stream));
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        }
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    });
    together([&](int number, aclrtStream stream) {
        for (int i = 0; i < repeats / 3; ++i) {
            ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify, stream, 0));
            const int code = aclrtSynchronizeStream(stream);
            ASSERT_TRUE(may_come(code)) << code;
            if (number == 0 && i == repeats / 6) peer.kill();
        }
    });
    over.store(true);
    recorder.join();
    ASSERT_ACL_OK(aclrtDestroyNotify(notify));
}

TEST_F(SharingThreads, RecordAndWaitForOneEvent) {
    aclrtEvent event = nullptr;
    aclrtIpcEventHandle handle{};
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    ASSERT_ACL_OK(aclrtIpcGetEventHandle(event, &handle));
    std::string hex;
    for (const char byte : handle.reserved) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
        hex += two;
    }
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "event " + hex);
    peer.send("churn_event 0");
    together([&](int number, aclrtStream stream) {
        for (int i = 0; i < repeats; ++i) {
            int code = 0;
            aclrtEventRecordedStatus status{};
            switch ((number + i) % 3) {
                case 0:
                    code = aclrtRecordEvent(event, stream);
                    break;
                case 1:
                    code = aclrtStreamWaitEvent(stream, event);
                    break;
                default:
                    code = aclrtSynchronizeEvent(event);
            }
            ASSERT_TRUE(may_come(code)) << code;
            aclrtQueryEventStatus(event, &status);
            code = aclrtSynchronizeStream(stream);
            ASSERT_TRUE(may_come(code)) << code;
            if (number == 0 && i == repeats / 2) peer.kill();
        }
    });
    ASSERT_ACL_OK(aclrtDestroyEvent(event));
}

}  // namespace
