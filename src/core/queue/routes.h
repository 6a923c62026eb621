// SPDX-License-Identifier: Apache-2.0
// Routes: every item of a source queue goes to each of its targets. No process is there for it: a thread that put an
// item into a source, or took one out of a target, moves what can be moved. Where other processes use the queues, a
// thread of the process that bound the route waits for them.
//
// The head of a source leaves it when every target has it, so a full target stalls its source and nothing is lost. What
// each target got is recorded in the target (Ring::deliver), so that nothing comes twice when a process dies. Any
// thread.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "core/queue/queue.h"

namespace canopy {

// Values of ACL_TDT_QUEUE_ROUTE_*.
enum class RouteStatus : std::int32_t { unbound = 0, bound = 1, abnormal = 2 };

struct Route {
    std::uint32_t source = 0, target = 0;
    RouteStatus status = RouteStatus::unbound;
};

inline constexpr std::size_t max_routes_of_process = 65536;

// Both change the status in `route` to what it is afterwards. Items that wait in sources go on with forward_all.
Status bind_route(Route& route);
Status unbind_route(Route& route);
void for_each_route(const std::function<void(const Route&)>& visit);

void forward_items(DataQueue& source);
void forward_all();
void forward_to(DataQueue& target);
inline void help_after_write(DataQueue& queue) {
    if (queue.routes_from.load(std::memory_order_relaxed) != 0) [[unlikely]]
        forward_items(queue);
}
inline void help_after_read(DataQueue& queue) {
    if (queue.routes_to.load(std::memory_order_relaxed) != 0) [[unlikely]]
        forward_to(queue);
}
// For a thread that has the read lock and is about to take item `index`: a process that forwarded it may have died
// before it took it out. Then the item is finished here, and true: it is out, and the lock is free.
bool finish_for_dead(DataQueue& source, std::uint64_t index);
// Another process may use one of the queues from now on.
void routes_shared();

}  // namespace canopy
