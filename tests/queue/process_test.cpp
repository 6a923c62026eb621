// SPDX-License-Identifier: Apache-2.0
// Queues between processes.
#include "queue_fixture.h"

namespace {

TEST_F(QueueTest, OnlyGrantedProcessesUseAQueueAndOnlyAsGranted) {
    const uint32_t queue = make_queue(4);
    EXPECT_EQ(acltdtGrantQueue(queue, ::getpid(), 0, 0), 100000);
    EXPECT_EQ(acltdtGrantQueue(queue, ::getpid(), 8, 0), 100000);
    EXPECT_EQ(acltdtGrantQueue(queue + 1, ::getpid(), 1, 0), 100032);
    EXPECT_EQ(acltdtAttachQueue(queue, 0, nullptr), 100000);
    Partner partner("attach", std::to_string(queue));
    EXPECT_EQ(partner.hear(), "attach 207006");  // with a timeout of 0
    partner.say("again");
    ASSERT_EQ(acltdtGrantQueue(queue, partner.process(), ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 100), 0);
    EXPECT_EQ(partner.hear(), "attach 0 4");
    EXPECT_EQ(partner.hear(), "put 0");
    EXPECT_EQ(partner.hear(), "take 207006");
    EXPECT_EQ(partner.hear(), "grant 207006");
    EXPECT_EQ(partner.hear(), "destroy 207006");
    uint64_t value = 0;
    EXPECT_EQ(take(queue, value, -1), 0);
    EXPECT_EQ(value, 17u);
    EXPECT_EQ(partner.finish(), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, ItemsOutliveTheProcessThatPutThem) {
    const uint32_t queue = make_queue(8);
    Partner partner("producer", std::to_string(queue));
    ASSERT_EQ(acltdtGrantQueue(queue, partner.process(), all_rights, 100), 0);
    EXPECT_EQ(partner.hear(), "done");
    partner.kill();
    for (uint64_t i = 0; i < 6; ++i) {
        acltdtBuf buffer = nullptr;
        ASSERT_EQ(acltdtDequeue(queue, &buffer, 1000), 0);
        EXPECT_EQ(first_word(buffer), 100 + i);
        EXPECT_EQ(acltdtFreeBuf(buffer), 0);
    }
    uint64_t value = 0;
    EXPECT_EQ(take(queue, value), 207013);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, EndOfTheCreatorIsToldToThoseWhoWait) {
    Partner creator("creator", std::to_string(::getpid()));
    const uint32_t queue = static_cast<uint32_t>(std::stoul(creator.hear()));
    uint32_t rights = 0;
    ASSERT_EQ(acltdtAttachQueue(queue, 10000, &rights), 0);
    EXPECT_EQ(rights, all_rights);
    uint64_t value = 0;
    ASSERT_EQ(take(queue, value, 10000), 0);
    EXPECT_EQ(value, 1u);
    ASSERT_EQ(put(queue, 2), 0);
    ASSERT_EQ(put(queue, 3), 0);
    creator.kill();
    ASSERT_TRUE(eventually([&] { return put(queue, 4) == 100032; }));  // until then there is room, or none
    while (take(queue, value, -1) == 0) EXPECT_GE(value, 2u);
    EXPECT_EQ(take(queue, value, -1), 100032);  // never hangs
}

TEST_F(QueueTest, RoutesCarryItemsOfOtherProcesses) {
    const uint32_t source = make_queue(4), target = make_queue(2);
    acltdtQueueRouteList* list = list_of({{source, target}});
    ASSERT_EQ(acltdtBindQueueRoutes(list), 0);
    Partner writer("writer", std::to_string(source)), reader("reader", std::to_string(target));
    ASSERT_EQ(acltdtGrantQueue(source, writer.process(), ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 100), 0);
    ASSERT_EQ(acltdtGrantQueue(target, reader.process(), ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 100), 0);
    EXPECT_EQ(reader.hear(), "got 300 in order");
    EXPECT_EQ(writer.finish(), 0);
    EXPECT_EQ(reader.finish(), 0);
    EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
    EXPECT_EQ(acltdtDestroyQueue(source), 0);
    EXPECT_EQ(acltdtDestroyQueue(target), 0);
    acltdtDestroyQueueRouteList(list);
}

TEST_F(QueueTest, ForkedChildrenDoNotUseWhatTheyInherited) {
    const uint32_t queue = make_queue(2);
    uint64_t value = 0;
    for (int i = 0; i < 1000; ++i)  // until this thread keeps both ends
        ASSERT_EQ(put(queue, 1) + take(queue, value), 0);
    acltdtBuf buffer = filled_buffer(8, 1);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(put(queue, 1) == 100032 && acltdtFreeBuf(buffer) == 107017 ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(put(queue, 2) + take(queue, value), 0);
    EXPECT_EQ(value, 2u);
    EXPECT_EQ(acltdtEnqueue(queue, buffer, 0), 0);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueTest, KilledProducersAndConsumersLoseNothingThatWasAccepted) {
    const uint32_t queue = make_queue(8);
    uint64_t taken = 0;
    for (int round = 0; round < 40; ++round) {
        Partner partner("counter", std::to_string(queue));
        ASSERT_EQ(acltdtGrantQueue(queue, partner.process(), all_rights, 100), 0);
        // The partner says each number after its enqueue returned; it is killed at some moment after the first.
        uint64_t last = std::stoull("0" + partner.hear());
        std::thread killer([&] {
            ::usleep(static_cast<useconds_t>(round * 211));
            ::kill(partner.process(), SIGKILL);
        });
        uint64_t count = 0, value = 0;
        for (;;) {
            const int code = take(queue, value, 50);
            if (code == 207013) break;
            ASSERT_EQ(code, 0);
            ASSERT_EQ(value, count);
            ++count;
        }
        killer.join();
        std::string line;
        while (!(line = partner.hear()).empty()) last = std::stoull(line);
        while (take(queue, value) == 0) {
            ASSERT_EQ(value, count);
            ++count;
        }
        if (last != 0) {
            ASSERT_GE(count, last);
        }
        taken += count;
    }
    EXPECT_GT(taken, 0u);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

}  // namespace
