// SPDX-License-Identifier: Apache-2.0
// Queues and buffers through the interface, in one process.
#include "queue_fixture.h"

namespace {

TEST_F(QueueTest, AttributesHaveDefaultsAndCheckTheirSizes) {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    ASSERT_NE(attr, nullptr);
    uint32_t depth = 0;
    size_t size = 0;
    const char* name = nullptr;
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &size, &depth), 0);
    EXPECT_EQ(depth, 8u);
    EXPECT_EQ(size, sizeof depth);
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &size, &name), 0);
    EXPECT_STREQ(name, "");
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, 7, &size, &name), 100000);
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 3, &size, &depth), 100000);
    EXPECT_EQ(acltdtGetQueueAttr(attr, static_cast<acltdtQueueAttrType>(2), 8, &size, &depth), 100000);
    EXPECT_EQ(acltdtGetQueueAttr(nullptr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &size, &depth), 100000);
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, nullptr, &depth), 100000);
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &size, nullptr), 100000);
    const std::string fits(127, 'q'), too_long(128, 'q');
    name = fits.c_str();
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 0);
    EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &size, &name), 0);
    EXPECT_EQ(name, fits);
    name = too_long.c_str();
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 100000);
    name = nullptr;
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 100000);
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, 9, &name), 100000);
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 5, &depth), 100000);
    EXPECT_EQ(acltdtSetQueueAttr(attr, static_cast<acltdtQueueAttrType>(7), 4, &depth), 100000);
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, nullptr), 100000);
    EXPECT_EQ(acltdtDestroyQueueAttr(attr), 0);
    EXPECT_EQ(acltdtDestroyQueueAttr(attr), 100000);
    EXPECT_EQ(acltdtDestroyQueueAttr(nullptr), 100000);
}

TEST_F(QueueTest, CreateChecksDepthAndName) {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    uint32_t queue = 0, depth = 1, other = 0;
    EXPECT_EQ(acltdtCreateQueue(nullptr, &queue), 100000);
    EXPECT_EQ(acltdtCreateQueue(attr, nullptr), 100000);
    acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth);
    EXPECT_EQ(acltdtCreateQueue(attr, &queue), 107000);
    depth = 8193;
    acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth);
    EXPECT_EQ(acltdtCreateQueue(attr, &queue), 107000);
    depth = 8192;
    acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth);
    const char* name = "the only one";
    acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name);
    EXPECT_EQ(acltdtCreateQueue(attr, &queue), 0);
    EXPECT_EQ(acltdtCreateQueue(attr, &other), 100000);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 100032);
    EXPECT_EQ(acltdtCreateQueue(attr, &other), 0);
    EXPECT_NE(other, queue);
    EXPECT_EQ(put(queue, 1), 100032);
    EXPECT_EQ(acltdtDestroyQueue(other), 0);
    acltdtDestroyQueueAttr(attr);
}

TEST_F(QueueTest, QueuesAreLimitedInNumber) {
    std::vector<uint32_t> queues;
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    uint32_t queue = 0;
    int code = 0;
    while (queues.size() < 2000 && (code = acltdtCreateQueue(attr, &queue)) == 0) queues.push_back(queue);
    EXPECT_EQ(code, 207012);
    for (const uint32_t each : queues) EXPECT_EQ(acltdtDestroyQueue(each), 0);
    EXPECT_EQ(acltdtCreateQueue(attr, &queue), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    acltdtDestroyQueueAttr(attr);
}

TEST_F(QueueTest, DataGoesThroughInOrderAndFullAndEmptyAreTold) {
    const uint32_t queue = make_queue(3);
    uint64_t value = 0;
    EXPECT_EQ(take(queue, value), 207013);
    EXPECT_EQ(take(queue, value, 5), 207013);
    for (uint64_t round = 0; round < 10; ++round) {
        for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(put(queue, round * 10 + i), 0);
        EXPECT_EQ(put(queue, 99), 207014);
        EXPECT_EQ(put(queue, 99, 5), 207014);
        for (uint64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(take(queue, value), 0);
            EXPECT_EQ(value, round * 10 + i);
        }
    }
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, DataOfEverySizeKeepsItsUserArea) {
    const uint32_t queue = make_queue(2);
    for (const size_t size : {1u, 64u, 95u, 96u, 97u, 4096u, 1000003u}) {
        std::vector<char> sent(size), got(size, 0);
        for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 7);
        char user[96], back[96];
        std::memset(user, 'u', sizeof user);
        std::memset(back, 0, sizeof back);
        EXPECT_EQ(acltdtEnqueueData(queue, sent.data(), size, user, sizeof user, 0, 0), 0);
        size_t told = 0;
        if (size > 1) {
            EXPECT_EQ(acltdtDequeueData(queue, got.data(), size - 1, &told, nullptr, 0, 0), 107000);
            EXPECT_EQ(told, size);  // and it is still the first
        }
        EXPECT_EQ(acltdtDequeueData(queue, got.data(), size, &told, back, sizeof back, 0), 0);
        EXPECT_EQ(told, size);
        EXPECT_EQ(sent, got);
        EXPECT_EQ(std::memcmp(user, back, sizeof user), 0);
    }
    uint64_t value = 5;
    size_t told = 0;
    char big[97] = {};
    EXPECT_EQ(acltdtEnqueueData(queue, &value, 8, big, 97, 0, 0), 107000);
    EXPECT_EQ(acltdtEnqueueData(queue, nullptr, 8, nullptr, 0, 0, 0), 100000);
    EXPECT_EQ(acltdtEnqueueData(queue, &value, 0, nullptr, 0, 0, 0), 100000);
    EXPECT_EQ(acltdtEnqueueData(queue, &value, 8, nullptr, 8, 0, 0), 100000);
    EXPECT_EQ(acltdtEnqueueData(queue, &value, 8, nullptr, 0, -2, 0), 107000);
    EXPECT_EQ(acltdtDequeueData(queue, nullptr, 8, &told, nullptr, 0, 0), 100000);
    EXPECT_EQ(acltdtDequeueData(queue, &value, 0, &told, nullptr, 0, 0), 100000);
    EXPECT_EQ(acltdtDequeueData(queue, &value, 8, nullptr, nullptr, 0, 0), 100000);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, DeviceMemoryIsCopied) {
    const uint32_t queue = make_queue(2);
    for (const size_t size : {32u, 8192u}) {
        std::vector<uint8_t> host(size, 0x5a), back(size, 0);
        void *from = nullptr, *to = nullptr;
        ASSERT_EQ(aclrtMalloc(&from, size, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
        ASSERT_EQ(aclrtMalloc(&to, size, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
        ASSERT_EQ(aclrtMemcpy(from, size, host.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        size_t told = 0;
        EXPECT_EQ(acltdtEnqueueData(queue, from, size, nullptr, 0, 0, 0), 0);
        EXPECT_EQ(acltdtDequeueData(queue, to, size, &told, nullptr, 0, 0), 0);
        ASSERT_EQ(aclrtMemcpy(back.data(), size, to, size, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        EXPECT_EQ(back, host);
        aclrtFree(from);
        aclrtFree(to);
    }
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, BuffersBelongToTheQueueAndThenToTheReceiver) {
    const uint32_t queue = make_queue(2);
    acltdtBuf buffer = filled_buffer(1 << 20, 42);
    const void* before = nullptr;
    size_t size = 0;
    EXPECT_EQ(acltdtGetBufData(buffer, const_cast<void**>(&before), &size), 0);
    const char note[] = "note";
    EXPECT_EQ(acltdtSetBufUserData(buffer, note, sizeof note, 90), 0);
    EXPECT_EQ(acltdtEnqueue(queue, buffer, 0), 0);
    EXPECT_EQ(acltdtFreeBuf(buffer), 107017);
    EXPECT_EQ(acltdtEnqueue(queue, buffer, 0), 107017);
    acltdtBuf got = nullptr;
    EXPECT_EQ(acltdtDequeue(queue, &got, 0), 0);
    EXPECT_EQ(first_word(got), 42u);
    void* after = nullptr;
    EXPECT_EQ(acltdtGetBufData(got, &after, &size), 0);
    EXPECT_EQ(after, before);  // not copied
    char back[5] = {};
    EXPECT_EQ(acltdtGetBufUserData(got, back, sizeof back, 90), 0);
    EXPECT_STREQ(back, "note");
    EXPECT_EQ(acltdtFreeBuf(got), 0);
    EXPECT_EQ(acltdtFreeBuf(got), 107017);
    EXPECT_EQ(acltdtDequeue(queue, &got, 0), 207013);
    EXPECT_EQ(acltdtDequeue(queue, nullptr, 0), 100000);
    EXPECT_EQ(acltdtEnqueue(queue, nullptr, 0), 100000);
    // By copy in, by buffer out, and the reverse.
    EXPECT_EQ(put(queue, 7), 0);
    EXPECT_EQ(acltdtDequeue(queue, &got, 0), 0);
    EXPECT_EQ(first_word(got), 7u);
    EXPECT_EQ(acltdtGetBufDataLen(got, &size), 0);
    EXPECT_EQ(size, 8u);
    EXPECT_EQ(acltdtEnqueue(queue, got, 0), 0);
    uint64_t value = 0;
    EXPECT_EQ(take(queue, value), 0);
    EXPECT_EQ(value, 7u);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, BufferCallsCheckTheirArguments) {
    acltdtBuf buffer = nullptr, other = nullptr;
    void* data = nullptr;
    size_t size = 0;
    uint32_t count = 0;
    char area[200] = {};
    EXPECT_EQ(acltdtAllocBuf(8, 0, nullptr), 100000);
    EXPECT_EQ(acltdtAllocBuf(0, 0, &buffer), 100000);
    EXPECT_EQ(acltdtAllocBuf(8, 2, &buffer), 100000);
    EXPECT_EQ(acltdtAllocBuf((size_t{4} << 30) + 1, 0, &buffer), 100000);
    EXPECT_EQ(acltdtAllocBuf(8, ACL_TDT_DVPP_MEM, &buffer), 0);
    EXPECT_EQ(acltdtGetBufDataLen(buffer, &size), 0);
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(acltdtSetBufDataLen(buffer, 9), 107000);
    EXPECT_EQ(acltdtSetBufDataLen(nullptr, 1), 100000);
    EXPECT_EQ(acltdtGetBufDataLen(buffer, nullptr), 100000);
    EXPECT_EQ(acltdtGetBufData(buffer, nullptr, &size), 100000);
    EXPECT_EQ(acltdtGetBufData(buffer, &data, nullptr), 100000);
    EXPECT_EQ(acltdtGetBufData(nullptr, &data, &size), 100000);
    EXPECT_EQ(acltdtGetBufData(area, &data, &size), 107017);
    EXPECT_EQ(acltdtSetBufUserData(nullptr, nullptr, 97, 0), 100000);
    EXPECT_EQ(acltdtSetBufUserData(buffer, area, 90, 7), 100000);
    EXPECT_EQ(acltdtSetBufUserData(buffer, area, 1, SIZE_MAX), 100000);
    EXPECT_EQ(acltdtSetBufUserData(buffer, nullptr, 1, 0), 100000);
    EXPECT_EQ(acltdtGetBufUserData(buffer, area, 96, 0), 0);
    EXPECT_EQ(acltdtGetBufUserData(buffer, area, 96, 1), 100000);
    EXPECT_EQ(acltdtCopyBufRef(buffer, nullptr), 100000);
    EXPECT_EQ(acltdtAppendBufChain(buffer, nullptr), 100000);
    EXPECT_EQ(acltdtAppendBufChain(buffer, buffer), 107000);
    EXPECT_EQ(acltdtGetBufChainNum(buffer, nullptr), 100000);
    EXPECT_EQ(acltdtGetBufChainNum(buffer, &count), 0);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(acltdtGetBufFromChain(buffer, 1, &other), 107000);
    EXPECT_EQ(acltdtGetBufFromChain(buffer, 0, nullptr), 100000);
    EXPECT_EQ(acltdtFreeBuf(nullptr), 100000);
    EXPECT_EQ(acltdtFreeBuf(buffer), 0);
    EXPECT_EQ(aclrtAllocBuf(&buffer, 16), 0);
    EXPECT_EQ(aclrtSetBufDataLen(buffer, 16), 0);
    EXPECT_EQ(aclrtFreeBuf(buffer), 0);
}

TEST_F(QueueTest, ReferencesShareDataAndCopyTheUserArea) {
    acltdtBuf buffer = filled_buffer(64, 1), reference = nullptr;
    char letter = 'a';
    EXPECT_EQ(acltdtSetBufUserData(buffer, &letter, 1, 0), 0);
    EXPECT_EQ(acltdtCopyBufRef(buffer, &reference), 0);
    void* data = nullptr;
    size_t size = 0;
    acltdtGetBufData(buffer, &data, &size);
    const uint64_t value = 77;
    std::memcpy(data, &value, sizeof value);
    EXPECT_EQ(first_word(reference), 77u);
    letter = 'b';
    EXPECT_EQ(acltdtSetBufUserData(buffer, &letter, 1, 0), 0);
    EXPECT_EQ(acltdtGetBufUserData(reference, &letter, 1, 0), 0);
    EXPECT_EQ(letter, 'a');
    EXPECT_EQ(acltdtFreeBuf(buffer), 0);
    // The data is still there, and is not given to anybody else.
    std::vector<acltdtBuf> others;
    for (int i = 0; i < 50; ++i) others.push_back(filled_buffer(64, 5));
    EXPECT_EQ(first_word(reference), 77u);
    for (acltdtBuf other : others) EXPECT_EQ(acltdtFreeBuf(other), 0);
    EXPECT_EQ(acltdtFreeBuf(reference), 0);
}

TEST_F(QueueTest, ChainsTravelAsOne) {
    const uint32_t queue = make_queue(2);
    acltdtBuf head = filled_buffer(8, 0);
    std::vector<acltdtBuf> parts;
    for (uint64_t i = 1; i < 128; ++i) {
        parts.push_back(filled_buffer(8, i));
        EXPECT_EQ(acltdtAppendBufChain(head, parts.back()), 0);
    }
    acltdtBuf one_too_many = filled_buffer(8, 1);
    EXPECT_EQ(acltdtAppendBufChain(head, one_too_many), 107000);
    EXPECT_EQ(acltdtFreeBuf(parts[3]), 107000);
    EXPECT_EQ(acltdtEnqueue(queue, parts[3], 0), 107000);
    EXPECT_EQ(acltdtEnqueue(queue, head, 0), 0);
    EXPECT_EQ(acltdtGetBufDataLen(parts[3], nullptr), 107017);
    acltdtBuf got = nullptr;
    EXPECT_EQ(acltdtDequeue(queue, &got, 0), 0);
    uint32_t count = 0;
    EXPECT_EQ(acltdtGetBufChainNum(got, &count), 0);
    EXPECT_EQ(count, 128u);
    for (uint32_t i = 0; i < count; ++i) {
        acltdtBuf part = nullptr;
        EXPECT_EQ(acltdtGetBufFromChain(got, i, &part), 0);
        EXPECT_EQ(first_word(part), i);
    }
    EXPECT_EQ(acltdtEnqueue(queue, got, 0), 0);
    std::vector<uint64_t> all(128);
    size_t told = 0;
    EXPECT_EQ(acltdtDequeueData(queue, all.data(), 128 * 8, &told, nullptr, 0, 0), 0);
    EXPECT_EQ(told, 128u * 8);
    EXPECT_EQ(all[127], 127u);
    EXPECT_EQ(acltdtFreeBuf(one_too_many), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, WaitersWakeForItemsRoomAndDestruction) {
    const uint32_t queue = make_queue(2);
    std::atomic<uint64_t> received{0};
    std::thread reader([&] {
        uint64_t value = 0;
        for (uint64_t i = 0; i < 1000; ++i, ++received) {
            ASSERT_EQ(take(queue, value, -1), 0);
            ASSERT_EQ(value, i);
        }
        EXPECT_EQ(take(queue, value, -1), 100032);
    });
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(put(queue, i, -1), 0);
    ASSERT_TRUE(eventually([&] { return received.load() == 1000; }));
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    reader.join();
}

// A thread that puts small items again and again keeps that end of the queue (core/queue/kept_ends.h): calls of all
// kinds in between find everything in its place.
constexpr uint64_t until_kept = 400;

void exchange(uint32_t queue, uint64_t count) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(put(queue, i), 0);
        ASSERT_EQ(take(queue, value), 0);
        ASSERT_EQ(value, i);
    }
}

TEST_F(QueueTest, OneThreadPutsAndTakesItemsOfAllKinds) {
    const uint32_t queue = make_queue(4);
    exchange(queue, until_kept);
    for (int round = 0; round < 3; ++round) {
        char data[300] = {}, user[96] = {};
        size_t size = 0;
        // User data, with room for less, all and more of it.
        for (const size_t room : {size_t{2}, size_t{4}, sizeof user}) {
            std::memset(user, 'x', sizeof user);
            ASSERT_EQ(acltdtEnqueueData(queue, "data", 4, "user", 4, 0, 0), 0);
            ASSERT_EQ(acltdtDequeueData(queue, data, sizeof data, &size, user, room, 0), 0);
            EXPECT_EQ(size, 4u);
            EXPECT_EQ(std::memcmp(data, "data", 4), 0);
            EXPECT_EQ(std::memcmp(user, "user", std::min<size_t>(room, 4)), 0);
            if (room == sizeof user) {
                EXPECT_EQ(user[5], 0);
            }
        }
        // Too little room: the item stays, and its length is told.
        ASSERT_EQ(put(queue, 7), 0);
        EXPECT_EQ(acltdtDequeueData(queue, data, 4, &size, nullptr, 0, 0), 107000);
        EXPECT_EQ(size, 8u);
        uint64_t value = 0;
        EXPECT_EQ(take(queue, value), 0);
        EXPECT_EQ(value, 7u);
        // Too large for an item, and a buffer.
        ASSERT_EQ(acltdtEnqueueData(queue, data, sizeof data, nullptr, 0, 0, 0), 0);
        ASSERT_EQ(acltdtEnqueue(queue, filled_buffer(8, 9), 0), 0);
        ASSERT_EQ(acltdtDequeueData(queue, data, sizeof data, &size, nullptr, 0, 0), 0);
        EXPECT_EQ(size, sizeof data);
        EXPECT_EQ(take(queue, value), 0);
        EXPECT_EQ(value, 9u);
        // Full and empty, at once and after a time.
        for (const int32_t timeout : {0, 1}) {
            for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(put(queue, i), 0);
            EXPECT_EQ(put(queue, 4, timeout), 207014);
            for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(take(queue, value), 0);
            EXPECT_EQ(value, 3u);
            EXPECT_EQ(take(queue, value, timeout), 207013);
        }
        EXPECT_EQ(put(queue, 1, -2), 107000);
        EXPECT_EQ(acltdtEnqueueData(queue, nullptr, 8, nullptr, 0, 0, 0), 100000);
        EXPECT_EQ(acltdtDequeueData(queue, data, 0, &size, nullptr, 0, 0), 100000);
        exchange(queue, 2 * until_kept);
        std::thread([&] { exchange(queue, until_kept); }).join();
    }
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    EXPECT_EQ(put(queue, 1), 100032);
}

TEST_F(QueueTest, AKeptEndKnowsDeviceMemory) {
    const uint32_t queue = make_queue(4);
    exchange(queue, until_kept);
    uint64_t *device = nullptr, value = 5;
    ASSERT_EQ(aclrtMalloc(reinterpret_cast<void**>(&device), sizeof value, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtMemcpy(device, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    size_t size = 0;
    ASSERT_EQ(acltdtEnqueueData(queue, device, sizeof value, nullptr, 0, 0, 0), 0);
    ASSERT_EQ(aclrtMemset(device, sizeof value, 0, sizeof value), 0);
    ASSERT_EQ(acltdtDequeueData(queue, device, sizeof value, &size, nullptr, 0, 0), 0);
    value = 0;
    ASSERT_EQ(aclrtMemcpy(&value, sizeof value, device, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT_EQ(value, 5u);
    EXPECT_EQ(aclrtFree(device), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, QueuesAreDestroyedWhileThreadsKeepTheirEnds) {
    for (int round = 0; round < 20; ++round) {
        const uint32_t queue = make_queue(64);
        std::atomic<uint64_t> taken{0};
        int writer_code = 0, reader_code = 0;
        std::thread writer([&] {
            do writer_code = put(queue, 1, round % 2 == 0 ? -1 : 0);
            while (writer_code == 0 || writer_code == 207014);
        });
        std::thread reader([&] {
            uint64_t value = 0;
            do {
                reader_code = take(queue, value, round % 2 == 0 ? -1 : 0);
                if (reader_code == 0) ++taken;
            } while (reader_code == 0 || reader_code == 207013);
        });
        EXPECT_TRUE(eventually([&] { return taken.load() > 3 * until_kept; }));
        EXPECT_EQ(acltdtDestroyQueue(queue), 0);
        writer.join();
        reader.join();
        EXPECT_EQ(writer_code, 100032);
        EXPECT_EQ(reader_code, 100032);
    }
}

TEST_F(QueueTest, ManyThreadsLoseNothing) {
    const uint32_t queue = make_queue(16);
    constexpr uint64_t each = 4000, threads = 3;
    std::atomic<uint64_t> sum{0}, taken{0};
    std::vector<std::thread> all;
    for (uint64_t t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            for (uint64_t i = 0; i < each; ++i) {
                if (i % 4 == 0)
                    ASSERT_EQ(acltdtEnqueue(queue, filled_buffer(256, t * each + i), -1), 0);
                else
                    ASSERT_EQ(put(queue, t * each + i, -1), 0);
            }
        });
        all.emplace_back([&] {
            while (taken.fetch_add(1) < each * threads) {
                acltdtBuf buffer = nullptr;
                ASSERT_EQ(acltdtDequeue(queue, &buffer, -1), 0);
                sum += first_word(buffer);
                ASSERT_EQ(acltdtFreeBuf(buffer), 0);
            }
        });
    }
    for (std::thread& thread : all) thread.join();
    const uint64_t items = each * threads;
    EXPECT_EQ(sum.load(), items * (items - 1) / 2);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

}  // namespace
