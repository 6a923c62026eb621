// SPDX-License-Identifier: Apache-2.0
// Routes between queues: descriptions, lists, searches, binding.
#include <cstring>
#include <optional>
#include <vector>

#include "acl/acl_tdt_queue.h"
#include "api/api.h"
#include "core/queue/routes.h"

using namespace canopy;

namespace {

struct RouteDescription {
    Route route;
    void recycle() noexcept { route = {}; }
};
struct RouteList {
    std::vector<Route> routes;
    void recycle() noexcept { routes.clear(); }
};
struct RouteQuery {
    std::optional<std::uint32_t> mode, source, target;
    void recycle() noexcept { *this = {}; }
};

template <class T>
HandleTable<T>& route_table(HandleKind kind) {
    static auto& table = *new HandleTable<T>(kind);
    return table;
}
HandleTable<RouteDescription>& route_descriptions() { return route_table<RouteDescription>(HandleKind::queue_route); }
HandleTable<RouteList>& route_lists() { return route_table<RouteList>(HandleKind::queue_route_list); }
HandleTable<RouteQuery>& route_queries() { return route_table<RouteQuery>(HandleKind::queue_route_query); }

template <class T, class Opaque>
Result<Pin<T>> find_route_object(HandleTable<T>& table, Opaque* opaque, const char* name) {
    CANOPY_TRY(required(opaque, name));
    Pin<T> found = table.pin(handle_of(opaque));
    if (!found)
        return fail(code::invalid_parameter, "{} {} is not such an object, or was destroyed", name, as_address(opaque));
    return found;
}

template <class T, class Prepare>
void* open_route_object(HandleTable<T>& table, Prepare&& prepare) {
    Handle handle = 0;
    api_for_kernels({}, [&]() -> Status {
        handle = table.open([&](T& object, Handle) { prepare(object); });
        return handle ? Status() : fail(code::bad_alloc, "too many objects of this kind are alive");
    });
    return opaque_of(handle);
}

template <class T, class Opaque>
int close_route_object(HandleTable<T>& table, Opaque* opaque, const char* name,
                       const char* function = __builtin_FUNCTION()) {
    return api_for_kernels(
        {},
        [&]() -> Status {
            Result<Pin<T>> found = find_route_object(table, opaque, name);
            if (!found.ok()) return found.status();
            table.close(handle_of(opaque));
            return {};
        },
        function);
}

// Every entry by itself; any failure makes the call fail.
template <class Change>
int change_routes(acltdtQueueRouteList* list, Change&& change, const char* function = __builtin_FUNCTION()) {
    return api_for_kernels(
        {},
        [&]() -> Status {
            Result<Pin<RouteList>> found = find_route_object(route_lists(), list, "qRouteList");
            if (!found.ok()) return found.status();
            std::size_t failed = 0;
            for (Route& route : (*found)->routes)
                if (!change(route).ok()) ++failed;
            forward_all();
            if (failed != 0) return fail(code::internal, "{} of {} routes failed", failed, (*found)->routes.size());
            return {};
        },
        function);
}

Status check_query(const RouteQuery& query) {
    if (!query.mode) return fail(code::invalid_parameter, "the mode of the search is not set");
    const bool source =
        *query.mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC || *query.mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
    const bool target =
        *query.mode == ACL_TDT_QUEUE_ROUTE_QUERY_DST || *query.mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
    if (source && !query.source) return fail(code::invalid_parameter, "the source of the search is not set");
    if (target && !query.target) return fail(code::invalid_parameter, "the target of the search is not set");
    return {};
}

bool matches(const RouteQuery& query, const Route& route) {
    switch (*query.mode) {
        case ACL_TDT_QUEUE_ROUTE_QUERY_SRC:
            return route.source == *query.source;
        case ACL_TDT_QUEUE_ROUTE_QUERY_DST:
            return route.target == *query.target;
        case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST:
            return route.source == *query.source && route.target == *query.target;
        default:
            return route.status == RouteStatus::abnormal;
    }
}

}  // namespace

acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId) {
    return static_cast<acltdtQueueRoute*>(open_route_object(route_descriptions(), [&](RouteDescription& made) {
        made.route = {srcId, dstId};
    }));
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route) {
    return close_route_object(route_descriptions(), route, "route");
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route, acltdtQueueRouteParamType type, size_t len,
                                  size_t* paramRetSize, void* param) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(route, "route"));
        CANOPY_TRY(required(param, "param"));
        CANOPY_TRY(required(paramRetSize, "paramRetSize"));
        Result<Pin<RouteDescription>> found = find_route_object(route_descriptions(), route, "route");
        if (!found.ok()) return found.status();
        const Route& asked = (*found)->route;
        std::uint32_t value = 0;
        switch (type) {
            case ACL_TDT_QUEUE_ROUTE_SRC_UINT32:
                value = asked.source;
                break;
            case ACL_TDT_QUEUE_ROUTE_DST_UINT32:
                value = asked.target;
                break;
            case ACL_TDT_QUEUE_ROUTE_STATUS_INT32:
                value = static_cast<std::uint32_t>(asked.status);
                break;
            default:
                return fail(code::invalid_parameter, "type {} is not a property of a route", static_cast<int>(type));
        }
        if (len < sizeof value)
            return fail(code::invalid_parameter, "len {} is less than the {} bytes needed", len, sizeof value);
        std::memcpy(param, &value, sizeof value);
        *paramRetSize = sizeof value;
        return {};
    });
}

acltdtQueueRouteList* acltdtCreateQueueRouteList(void) {
    return static_cast<acltdtQueueRouteList*>(open_route_object(route_lists(), [](RouteList&) {}));
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* routeList) {
    return close_route_object(route_lists(), routeList, "routeList");
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList* routeList, const acltdtQueueRoute* route) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<RouteList>> list = find_route_object(route_lists(), routeList, "routeList");
        if (!list.ok()) return list.status();
        Result<Pin<RouteDescription>> added = find_route_object(route_descriptions(), route, "route");
        if (!added.ok()) return added.status();
        (*list)->routes.push_back((*added)->route);
        return {};
    });
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList* routeList, size_t index, acltdtQueueRoute* route) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<RouteList>> list = find_route_object(route_lists(), routeList, "routeList");
        if (!list.ok()) return list.status();
        Result<Pin<RouteDescription>> to = find_route_object(route_descriptions(), route, "route");
        if (!to.ok()) return to.status();
        if (index >= (*list)->routes.size())
            return fail(code::invalid_parameter, "index {} is not below the {} routes of the list", index,
                        (*list)->routes.size());
        (*to)->route = (*list)->routes[index];
        return {};
    });
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* routeList) {
    const Pin<RouteList> list = route_lists().pin(handle_of(routeList));
    return list ? list->routes.size() : 0;
}

aclError acltdtBindQueueRoutes(acltdtQueueRouteList* qRouteList) { return change_routes(qRouteList, bind_route); }

aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* qRouteList) { return change_routes(qRouteList, unbind_route); }

acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void) {
    return static_cast<acltdtQueueRouteQueryInfo*>(open_route_object(route_queries(), [](RouteQuery&) {}));
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info) {
    return close_route_object(route_queries(), info, "info");
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* param, acltdtQueueRouteQueryInfoParamType type,
                                      size_t len, const void* value) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(param, "param"));
        CANOPY_TRY(required(value, "value"));
        Result<Pin<RouteQuery>> found = find_route_object(route_queries(), param, "param");
        if (!found.ok()) return found.status();
        std::uint32_t given = 0;
        if (len == 0 || len > sizeof given)
            return fail(code::invalid_parameter, "len {} is not the size of this property", len);
        std::memcpy(&given, value, len);
        switch (type) {
            case ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM:
                if (given > ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST && given != ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL)
                    return fail(code::invalid_parameter, "{} is not a way to search routes", given);
                (*found)->mode = given;
                return {};
            case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32:
                (*found)->source = given;
                return {};
            case ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32:
                (*found)->target = given;
                return {};
            default:
                return fail(code::invalid_parameter, "type {} is not a property of a search", static_cast<int>(type));
        }
    });
}

aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* queryInfo, acltdtQueueRouteList* qRouteList) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(qRouteList, "qRouteList"));
        Result<Pin<RouteQuery>> query = find_route_object(route_queries(), queryInfo, "queryInfo");
        if (!query.ok()) return query.status();
        Result<Pin<RouteList>> list = find_route_object(route_lists(), qRouteList, "qRouteList");
        if (!list.ok()) return list.status();
        CANOPY_TRY(check_query(**query));
        (*list)->routes.clear();
        for_each_route([&](const Route& route) {
            if (matches(**query, route)) (*list)->routes.push_back(route);
        });
        return {};
    });
}
