// SPDX-License-Identifier: Apache-2.0
// Routes between queues of one process.
#include "queue_fixture.h"

namespace {

TEST_F(QueueTest, RouteObjectsCheckTheirArguments) {
    acltdtQueueRoute* route = acltdtCreateQueueRoute(3, 4);
    uint32_t value = 0;
    size_t size = 0;
    EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4, &size, &value), 0);
    EXPECT_EQ(value, 3u);
    EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4, &size, &value), 0);
    EXPECT_EQ(value, 4u);
    EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &size, &value), 0);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 3, &size, &value), 100000);
    EXPECT_EQ(acltdtGetQueueRouteParam(route, static_cast<acltdtQueueRouteParamType>(9), 4, &size, &value), 100000);
    EXPECT_EQ(acltdtGetQueueRouteParam(nullptr, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4, &size, &value), 100000);
    acltdtQueueRouteList* list = acltdtCreateQueueRouteList();
    EXPECT_EQ(acltdtGetQueueRouteNum(list), 0u);
    EXPECT_EQ(acltdtGetQueueRouteNum(nullptr), 0u);
    EXPECT_EQ(acltdtAddQueueRoute(list, nullptr), 100000);
    EXPECT_EQ(acltdtAddQueueRoute(nullptr, route), 100000);
    EXPECT_EQ(acltdtGetQueueRoute(list, 0, route), 100000);
    EXPECT_EQ(acltdtBindQueueRoutes(nullptr), 100000);
    EXPECT_EQ(acltdtUnbindQueueRoutes(nullptr), 100000);
    acltdtQueueRouteQueryInfo* info = acltdtCreateQueueRouteQueryInfo();
    EXPECT_EQ(acltdtQueryQueueRoutes(info, list), 100000);
    acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
    EXPECT_EQ(acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode), 0);
    EXPECT_EQ(acltdtQueryQueueRoutes(info, list), 100000);
    EXPECT_EQ(acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 8, &mode), 100000);
    EXPECT_EQ(acltdtQueryQueueRoutes(nullptr, list), 100000);
    EXPECT_EQ(acltdtQueryQueueRoutes(info, nullptr), 100000);
    EXPECT_EQ(acltdtDestroyQueueRouteQueryInfo(info), 0);
    EXPECT_EQ(acltdtDestroyQueueRouteQueryInfo(nullptr), 100000);
    EXPECT_EQ(acltdtDestroyQueueRouteList(list), 0);
    EXPECT_EQ(acltdtDestroyQueueRouteList(nullptr), 100000);
    EXPECT_EQ(acltdtDestroyQueueRoute(route), 0);
    EXPECT_EQ(acltdtDestroyQueueRoute(nullptr), 100000);
}

TEST_F(QueueTest, RoutesAreBoundOneByOne) {
    const uint32_t a = make_queue(4), b = make_queue(4), c = make_queue(4);
    acltdtQueueRouteList* list = list_of({{a, b}, {a, a}, {b, c}, {c, a}, {a, 12345}});
    EXPECT_EQ(acltdtBindQueueRoutes(list), 500000);
    EXPECT_EQ(status_at(list, 0), 1);
    for (size_t i = 1; i < 5; ++i) EXPECT_EQ(status_at(list, i), 0) << i;
    acltdtQueueRouteList* good = list_of({{a, b}});
    EXPECT_EQ(acltdtBindQueueRoutes(good), 0);  // again
    acltdtQueueRouteQueryInfo* info = acltdtCreateQueueRouteQueryInfo();
    acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
    acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode);
    acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, sizeof a, &a);
    acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, sizeof b, &b);
    acltdtQueueRouteList* found = acltdtCreateQueueRouteList();
    EXPECT_EQ(acltdtQueryQueueRoutes(info, found), 0);
    EXPECT_EQ(acltdtGetQueueRouteNum(found), 1u);
    mode = ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL;
    acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode);
    EXPECT_EQ(acltdtQueryQueueRoutes(info, found), 0);
    EXPECT_EQ(acltdtGetQueueRouteNum(found), 0u);
    EXPECT_EQ(acltdtDestroyQueue(a), 500000);
    EXPECT_EQ(acltdtDestroyQueue(b), 500000);
    EXPECT_EQ(acltdtUnbindQueueRoutes(good), 0);
    EXPECT_EQ(status_at(good, 0), 0);
    EXPECT_EQ(acltdtUnbindQueueRoutes(good), 0);
    acltdtQueueRouteList* unknown = list_of({{a, 12345}});
    EXPECT_EQ(acltdtUnbindQueueRoutes(unknown), 500000);
    for (const uint32_t queue : {a, b, c}) EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    for (acltdtQueueRouteList* each : {list, good, found, unknown}) acltdtDestroyQueueRouteList(each);
    acltdtDestroyQueueRouteQueryInfo(info);
}

TEST_F(QueueTest, SlowTargetsStallTheirSourceAndNothingIsLostOrDoubled) {
    const uint32_t source = make_queue(4), quick = make_queue(4), slow = make_queue(2);
    ASSERT_EQ(put(source, 0), 0);  // before the route exists
    acltdtQueueRouteList* list = list_of({{source, quick}, {source, slow}});
    ASSERT_EQ(acltdtBindQueueRoutes(list), 0);
    constexpr uint64_t items = 500;
    std::thread writer([&] {
        for (uint64_t i = 1; i < items; ++i) {
            if (i % 3 == 0)
                ASSERT_EQ(acltdtEnqueue(source, filled_buffer(200, i), -1), 0);
            else
                ASSERT_EQ(put(source, i, -1), 0);
        }
    });
    std::thread other([&] {
        for (uint64_t i = 0; i < items; ++i) {
            acltdtBuf buffer = nullptr;
            ASSERT_EQ(acltdtDequeue(quick, &buffer, -1), 0);
            ASSERT_EQ(first_word(buffer), i);
            ASSERT_EQ(acltdtFreeBuf(buffer), 0);
        }
    });
    for (uint64_t i = 0; i < items; ++i) {
        acltdtBuf buffer = nullptr;
        ASSERT_EQ(acltdtDequeue(slow, &buffer, -1), 0);
        ASSERT_EQ(first_word(buffer), i);
        ASSERT_EQ(acltdtFreeBuf(buffer), 0);
    }
    writer.join();
    other.join();
    uint64_t value = 0;
    for (const uint32_t queue : {source, quick, slow}) EXPECT_EQ(take(queue, value), 207013);
    EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
    for (const uint32_t queue : {source, quick, slow}) EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    acltdtDestroyQueueRouteList(list);
}

TEST_F(QueueTest, ManySourcesKeepTheirOrderIntoOneTarget) {
    const uint32_t a = make_queue(4), b = make_queue(4), target = make_queue(3);
    acltdtQueueRouteList* list = list_of({{a, target}, {b, target}});
    ASSERT_EQ(acltdtBindQueueRoutes(list), 0);
    std::thread first([&] {
        for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(put(a, i, -1), 0);
    });
    std::thread second([&] {
        for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(put(b, 1000 + i, -1), 0);
    });
    uint64_t next_a = 0, next_b = 1000, value = 0;
    for (int i = 0; i < 600; ++i) {
        ASSERT_EQ(take(target, value, -1), 0);
        ASSERT_EQ(value, value < 1000 ? next_a++ : next_b++);
    }
    first.join();
    second.join();
    EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
    for (const uint32_t queue : {a, b, target}) EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    acltdtDestroyQueueRouteList(list);
}

TEST_F(QueueTest, RoutesJoinQueuesWhoseEndsAThreadKeeps) {
    const uint32_t source = make_queue(4), target = make_queue(2);
    uint64_t value = 0;
    for (int i = 0; i < 1000; ++i)
        for (const uint32_t queue : {source, target}) ASSERT_EQ(put(queue, 1) + take(queue, value), 0);
    acltdtQueueRouteList* list = list_of({{source, target}});
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(put(source, 0), 0);  // before the route exists
        ASSERT_EQ(acltdtBindQueueRoutes(list), 0);
        for (uint64_t i = 1; i < 6; ++i) ASSERT_EQ(put(source, i), 0) << "two of six go on to the target";
        EXPECT_EQ(put(source, 6), 207014);
        for (uint64_t i = 0; i < 6; ++i) {
            ASSERT_EQ(take(target, value), 0);
            ASSERT_EQ(value, i);
        }
        EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
        ASSERT_EQ(put(source, 7), 0);
        EXPECT_EQ(take(target, value), 207013);
        EXPECT_EQ(take(source, value), 0);
        EXPECT_EQ(value, 7u);
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(put(source, 1) + take(source, value), 0);
    }
    for (const uint32_t queue : {source, target}) EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    acltdtDestroyQueueRouteList(list);
}

// A thread that forwards items may have seen a route that another thread is just unbinding.
TEST_F(QueueTest, NothingIsLostWhileRoutesAreUnbound) {
    const uint32_t source = make_queue(4), target = make_queue(4);
    acltdtQueueRouteList* list = list_of({{source, target}});
    constexpr uint64_t count = 3000;
    std::atomic<bool> all_put{false};
    std::thread producer([&] {
        int code = 0;
        for (uint64_t i = 0; i < count && code == 0; ++i) EXPECT_EQ(code = put(source, i, 20000), 0);
        all_put.store(true);
    });
    std::thread consumer([&] {
        for (uint64_t i = 0; i < count; ++i) {
            uint64_t value = 0;
            ASSERT_EQ(take(target, value, 20000), 0);
            ASSERT_EQ(value, i);
        }
    });
    while (!all_put.load()) {
        EXPECT_EQ(acltdtBindQueueRoutes(list), 0);
        EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
    }
    producer.join();
    EXPECT_EQ(acltdtBindQueueRoutes(list), 0);
    consumer.join();
    EXPECT_EQ(acltdtUnbindQueueRoutes(list), 0);
    EXPECT_EQ(acltdtDestroyQueue(source), 0);
    EXPECT_EQ(acltdtDestroyQueue(target), 0);
    acltdtDestroyQueueRouteList(list);
}

}  // namespace
