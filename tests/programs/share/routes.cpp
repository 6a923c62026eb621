// SPDX-License-Identifier: Apache-2.0
// A route between two queues: bound, searched, used and unbound. Another process puts into its source.
#include "acl/acl_tdt_queue.h"
#include "partner.h"

namespace {

constexpr std::int32_t limit = 20000;  // milliseconds
constexpr std::uint64_t items = 50;    // more than fit into both queues

std::uint32_t new_queue(const char* name) {
    const std::uint32_t depth = 4;
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
    CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    std::uint32_t queue = 0;
    CHECK(acltdtCreateQueue(attributes, &queue));
    CHECK(acltdtDestroyQueueAttr(attributes));
    return queue;
}

std::int32_t status_of(acltdtQueueRouteList* routes) {
    acltdtQueueRoute* route = acltdtCreateQueueRoute(0, 0);
    CHECK(acltdtGetQueueRoute(routes, 0, route));
    std::int32_t status = -1;
    std::size_t size = 0;
    CHECK(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, sizeof status, &size, &status));
    CHECK(acltdtDestroyQueueRoute(route));
    return status;
}

// The number of bound routes between the two.
std::size_t count_routes(std::uint32_t from, std::uint32_t to) {
    acltdtQueueRouteQueryInfo* search = acltdtCreateQueueRouteQueryInfo();
    const acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
    CHECK(acltdtSetQueueRouteQueryInfo(search, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode));
    CHECK(acltdtSetQueueRouteQueryInfo(search, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, sizeof from, &from));
    CHECK(acltdtSetQueueRouteQueryInfo(search, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, sizeof to, &to));
    acltdtQueueRouteList* found = acltdtCreateQueueRouteList();
    CHECK(acltdtQueryQueueRoutes(search, found));
    const std::size_t count = acltdtGetQueueRouteNum(found);
    CHECK(acltdtDestroyQueueRouteList(found));
    CHECK(acltdtDestroyQueueRouteQueryInfo(search));
    return count;
}

int send() {
    programs::Device device;
    const auto queue = programs::starter().get<std::uint32_t>();
    std::uint32_t rights = 0;
    CHECK(acltdtAttachQueue(queue, limit, &rights));
    for (std::uint64_t i = 0; i < items; ++i) CHECK(acltdtEnqueueData(queue, &i, sizeof i, nullptr, 0, limit, 0));
    return 0;
}

}  // namespace

int main(int count, char**) {
    if (count > 1) return send();
    programs::Device device;
    const std::uint32_t source = new_queue("source"), target = new_queue("target");
    acltdtQueueRouteList* routes = acltdtCreateQueueRouteList();
    acltdtQueueRoute* route = acltdtCreateQueueRoute(source, target);
    CHECK(acltdtAddQueueRoute(routes, route));
    CHECK(acltdtDestroyQueueRoute(route));  // the list has a copy
    CHECK(acltdtBindQueueRoutes(routes));
    REQUIRE(status_of(routes) == 1);
    REQUIRE(count_routes(source, target) == 1 && count_routes(target, source) == 0);
    programs::Partner sender("send");
    CHECK(acltdtGrantQueue(source, sender.process(), ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
    sender.give(source);
    for (std::uint64_t i = 0; i < items; ++i) {
        std::uint64_t item = 0;
        std::size_t size = 0;
        CHECK(acltdtDequeueData(target, &item, sizeof item, &size, nullptr, 0, limit));
        REQUIRE(item == i);
    }
    CHECK_CODE(ACL_ERROR_INTERNAL_ERROR, acltdtDestroyQueue(source));  // it is bound
    CHECK(acltdtUnbindQueueRoutes(routes));
    REQUIRE(status_of(routes) == 0);
    REQUIRE(count_routes(source, target) == 0);
    CHECK(acltdtDestroyQueueRouteList(routes));
    CHECK(acltdtDestroyQueue(source));
    CHECK(acltdtDestroyQueue(target));
    std::printf("routes: %u items of another process\n", static_cast<unsigned>(items));
}
