// SPDX-License-Identifier: Apache-2.0
#include "core/queue/routes.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr int items_per_turn = 100;

struct BoundRoute {
    Route route;
    std::uint64_t source = 0, target = 0;  // of the rings
};

struct Routes {
    Mutex mutex;
    ProcessNumber process CANOPY_GUARDED_BY(mutex) = 0;
    std::vector<BoundRoute> all CANOPY_GUARDED_BY(mutex);
    bool keeper CANOPY_GUARDED_BY(mutex) = false;  // its thread runs
    std::atomic<std::uint32_t> changes{0};         // the keeper sleeps on it
};

Routes& routes() { return process_state<Routes>(); }

// After a fork without exec there are no routes.
void begin(Routes& list) CANOPY_REQUIRES(list.mutex) {
    if (list.process == own_process_number()) return;
    list.process = own_process_number();
    list.all.clear();
    list.keeper = false;
}

BoundRoute* find(Routes& list, const Route& route) CANOPY_REQUIRES(list.mutex) {
    for (BoundRoute& each : list.all)
        if (each.route.source == route.source && each.route.target == route.target) return &each;
    return nullptr;
}

template <class Wanted>
std::vector<BoundRoute> bound_routes(Wanted&& wanted) {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    begin(list);
    std::vector<BoundRoute> found;
    for (const BoundRoute& each : list.all)
        if (each.route.status == RouteStatus::bound && wanted(each)) found.push_back(each);
    return found;
}

void mark_abnormal(const Route& route) {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    if (BoundRoute* bound = find(list, route)) bound->route.status = RouteStatus::abnormal;
}

// The item as the target gets it: small ones as they are, buffers by reference.
Status item_for(DataQueue& source, DataQueue& target, const Item& item, Item& given, Buffer& reference) {
    given = item;
    reference = {};
    if (item.kind != ItemKind::buffer) return {};
    std::uint32_t local = 0;
    BufferPool* pool = item.header < BufferPool::headers ? source.pool_of(item.pool, local) : nullptr;
    if (pool == nullptr) return Status(code::invalid_handle);
    const Buffer original{pool, local, item.header, pool->owner(item.header)};
    if (original.owner.generation != item.generation) return Status(code::invalid_handle);
    Result<Buffer> copy = duplicate_buffer(original);
    if (!copy.ok()) return copy.status();
    reference = *copy;
    for (const Buffer& part : chain_of(reference))
        if (const Status status = target.announce(*part.pool); !status.ok()) {
            free_buffer(reference).ignore();
            return status;
        }
    // From here on its owner word differs from that of a receiver in this process.
    BufferOwner moving = reference.owner;
    moving.state = BufferState::moving;
    reference.pool->change(reference.header, reference.owner, moving);
    reference.owner = moving;
    given.pool = reference.pool->uid();
    given.header = reference.header;
    given.generation = reference.owner.generation;
    return {};
}

enum class Delivery { done, stalled, dead };

Delivery deliver(DataQueue& source, DataQueue& target, std::uint64_t index, const Item& item) {
    if (!target.ring->open()) return Delivery::dead;
    if (target.ring->delivered(source.ring->uid(), index)) return Delivery::done;
    if (!target.ring->has_room()) return Delivery::stalled;
    Item given;
    Buffer reference;
    if (const Status status = item_for(source, target, item, given, reference); !status.ok())
        // A damaged item reaches nobody; anything else may pass.
        return status.code() == code::invalid_handle ? Delivery::done : Delivery::stalled;
    const Ring::Outcome outcome = target.ring->deliver(source.ring->uid(), index, given, [&](std::uint64_t place) {
        if (reference.pool) reference.pool->set_place(reference.header, {target.ring->uid(), place});
    });
    if (outcome == Ring::Outcome::done) {
        if (reference.pool)
            reference.pool->change(reference.header, reference.owner,
                                   {reference.owner.generation, BufferState::queued, 0});
        return Delivery::done;
    }
    if (reference.pool) free_buffer(reference).ignore();
    if (outcome == Ring::Outcome::stopped) return Delivery::done;
    return outcome == Ring::Outcome::closed ? Delivery::dead : Delivery::stalled;
}

// With the read lock: every target has the item.
void leave_source(DataQueue& source, std::uint64_t index, const Item& item) {
    Buffer original;
    if (item.kind == ItemKind::buffer && item.header < BufferPool::headers)
        if (BufferPool* pool = source.pool_of(item.pool, original.number)) {
            const BufferOwner now = pool->owner(item.header);
            const BufferOwner mine{now.generation, BufferState::owned, own_process_number()};
            if (now.generation == item.generation && pool->change(item.header, now, mine))
                original = {pool, original.number, item.header, mine};
        }
    source.ring->commit_read(index);
    if (original.pool) free_buffer(original).ignore();
}

// False: nothing more can be moved now.
bool forward_one(DataQueue& source, const std::vector<BoundRoute>& targets) {
    Ring& ring = *source.ring;
    if (!ring.has_item() || !ring.lock_reading()) return false;
    if (!ring.has_item()) {
        ring.abandon_read();
        return false;
    }
    const std::uint64_t index = ring.head_index();
    const Item item = ring.get(index);
    std::uint64_t everywhere = 0;
    bool stalled = false, any = false;
    std::vector<Route> ended;
    for (const BoundRoute& bound : targets) {
        if (!ring.is_target(bound.target)) continue;  // another thread has unbound it since
        Result<Pin<DataQueue>> target = find_queue(bound.route.target);
        const Delivery delivery = target.ok() ? deliver(source, **target, index, item) : Delivery::dead;
        if (delivery == Delivery::dead) {
            ring.drop_target(bound.target);
            ended.push_back(bound.route);
            continue;
        }
        if (delivery == Delivery::stalled) {
            stalled = true;
            continue;
        }
        any = true;
        everywhere = ring.note_delivered(bound.target, index + 1);
    }
    const bool moved = any && !stalled && everywhere > index;
    if (moved)
        leave_source(source, index, item);
    else
        ring.abandon_read();
    for (const Route& each : ended) mark_abnormal(each);  // now: bind_route has the mutex when it takes the lock
    return moved;
}

bool shared_with_others(const BoundRoute& bound) {
    for (const std::uint32_t number : {bound.route.source, bound.route.target}) {
        Result<Pin<DataQueue>> queue = find_queue(number);
        if (!queue.ok()) continue;
        if (!(*queue)->own) return true;
        MutexLock guard((*queue)->mutex);
        if (!(*queue)->granted.empty()) return true;
    }
    return false;
}

// Sleeps until one of the words differs from the value it was read with, or for a while.
class WordList {
public:
    void add(std::atomic<std::uint32_t>& word, std::uint32_t value) {
        if (count_ < all_.size())
            all_[count_++] = {value, reinterpret_cast<std::uintptr_t>(&word), FUTEX_32, 0};
        else
            too_many_ = true;
    }
    void sleep(Nanoseconds longest) noexcept {
        const timespec pause{0, millisecond};
        const Nanoseconds until = Deadline::after(longest).at;
        const timespec limit{until / second, until % second};
        if (too_many_ || (::syscall(SYS_futex_waitv, all_.data(), count_, 0, &limit, CLOCK_MONOTONIC) < 0 &&
                          errno != EAGAIN && errno != ETIMEDOUT && errno != EINTR))
            ::nanosleep(&pause, nullptr);
    }

private:
    std::array<futex_waitv, 128> all_{};
    std::uint32_t count_ = 0;
    bool too_many_ = false;
};

void keep_routes() {
    Routes& list = routes();
    for (;;) {
        const std::uint32_t changes = list.changes.load();
        const std::vector<BoundRoute> bound = bound_routes(shared_with_others);
        if (bound.empty()) {
            MutexLock guard(list.mutex);
            if (list.changes.load() != changes) continue;
            list.keeper = false;
            return;
        }
        WordList words;
        words.add(list.changes, changes);
        std::vector<Pin<DataQueue>> used;
        for (const BoundRoute& each : bound) {
            Result<Pin<DataQueue>> source = find_queue(each.route.source), target = find_queue(each.route.target);
            if (!source.ok() || !target.ok()) {
                mark_abnormal(each.route);
                continue;
            }
            const std::uint32_t items = (*source)->ring->items_word().prepare();
            const std::uint32_t room = (*target)->ring->room_word().prepare();
            order_keepers();  // otherwise the items wait until the sleep below ends
            forward_items(**source);
            if (!(*source)->ring->has_item() && !(*source)->ring->open()) mark_abnormal(each.route);
            words.add((*source)->ring->items_word().word(), items);
            words.add((*target)->ring->room_word().word(), room);
            used.push_back(std::move(*source));
            used.push_back(std::move(*target));
        }
        words.sleep(100 * millisecond);
    }
}

void start_keeper(Routes& list) CANOPY_REQUIRES(list.mutex) {
    list.changes.fetch_add(1);
    if (list.keeper) {
        wake_word(&list.changes, 1);
        return;
    }
    list.keeper = true;
    std::thread(keep_routes).detach();
}

Status check_ends(const Route& route, Pin<DataQueue>& source, Pin<DataQueue>& target) {
    Result<Pin<DataQueue>> from = find_queue(route.source, queue_right::dequeue);
    if (!from.ok()) return from.status();
    Result<Pin<DataQueue>> to = find_queue(route.target, queue_right::enqueue);
    if (!to.ok()) return to.status();
    if (route.source == route.target) return fail(code::internal, "queue {} cannot be routed to itself", route.source);
    source = std::move(*from);
    target = std::move(*to);
    return {};
}

}  // namespace

Status bind_route(Route& route) {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    begin(list);
    route.status = RouteStatus::unbound;
    Pin<DataQueue> source, target;
    CANOPY_TRY(check_ends(route, source, target));
    BoundRoute* known = find(list, route);
    if (known && known->route.status == RouteStatus::bound) {
        route.status = RouteStatus::bound;
        return {};
    }
    if (source->ring->has_sources() || target->ring->has_targets())
        return fail(code::internal, "queue {} or {} is the other end of a route already: routes form no chains",
                    route.source, route.target);
    if (list.all.size() >= max_routes_of_process)
        return fail(code::over_limit, "this process has {} routes, the maximum", list.all.size());
    if (!target->ring->accept_source(source->ring->uid(), source->ring->head_index()))
        return fail(code::over_limit, "queue {} has {} sources, the maximum, or a process that uses it was stopped",
                    route.target, Ring::max_routes);
    if (!source->ring->add_target(target->ring->uid())) {
        target->ring->forget_source(source->ring->uid());
        return fail(code::over_limit, "queue {} has {} targets, the maximum, or a process that uses it was stopped",
                    route.source, Ring::max_routes);
    }
    route.status = RouteStatus::bound;
    if (known)
        known->route.status = RouteStatus::bound;
    else
        list.all.push_back({route, source->ring->uid(), target->ring->uid()});
    source->routes_from.fetch_add(1);
    target->routes_to.fetch_add(1);
    const bool shared = shared_with_others(list.all.back()) || (known && shared_with_others(*known));
    if (shared) start_keeper(list);
    guard.unlock();
    // Threads of this process that keep these ends looked for routes before they went in: those that looked too early
    // have left when this returns, and their items are there for forward_all.
    source->ring->take_writing_back();
    target->ring->take_reading_back();
    return {};
}

Status unbind_route(Route& route) {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    begin(list);
    Result<Pin<DataQueue>> source = find_queue(route.source), target = find_queue(route.target);
    BoundRoute* known = find(list, route);
    if (known == nullptr) {
        if (!source.ok() || !target.ok()) return source.ok() ? target.status() : source.status();
        route.status = RouteStatus::unbound;
        return {};
    }
    const BoundRoute bound = *known;
    list.all.erase(list.all.begin() + (known - list.all.data()));
    if (source.ok()) {
        (*source)->ring->remove_target(bound.target);
        (*source)->routes_from.fetch_sub(1);
    }
    if (target.ok()) {
        (*target)->ring->forget_source(bound.source);
        (*target)->routes_to.fetch_sub(1);
    }
    list.changes.fetch_add(1);
    wake_word(&list.changes, 1);
    route.status = RouteStatus::unbound;
    return {};
}

void for_each_route(const std::function<void(const Route&)>& visit) {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    begin(list);
    for (BoundRoute& each : list.all) {
        // A queue that ended is noticed here at the latest.
        for (const std::uint32_t number : {each.route.source, each.route.target}) {
            Result<Pin<DataQueue>> queue = find_queue(number);
            if (!queue.ok() || !(*queue)->ring->open()) each.route.status = RouteStatus::abnormal;
        }
        visit(each.route);
    }
}

void forward_items(DataQueue& source) {
    PoolUse use;
    const std::vector<BoundRoute> targets =
        bound_routes([&](const BoundRoute& each) { return each.route.source == source.number; });
    if (targets.empty()) return;
    for (int moved = 0; moved < items_per_turn && forward_one(source, targets); ++moved) continue;
}

bool finish_for_dead(DataQueue& source, std::uint64_t index) {
    PoolUse use;
    std::vector<std::uint64_t> dead;
    source.ring->drop_targets_of_dead([&](std::uint64_t ring) { dead.push_back(ring); });
    if (dead.empty() || source.ring->has_targets()) return false;
    std::vector<Pin<DataQueue>> with, without;
    for_each_queue([&](DataQueue& queue) {
        if (std::find(dead.begin(), dead.end(), queue.ring->uid()) == dead.end()) return;
        Result<Pin<DataQueue>> target = find_queue(queue.number);
        if (!target.ok()) return;
        const bool has = queue.ring->delivered(source.ring->uid(), index);
        (has ? with : without).push_back(std::move(*target));
    });
    if (with.empty()) return false;
    const Item item = source.ring->get(index);
    for (const Pin<DataQueue>& target : without) deliver(source, *target, index, item);
    leave_source(source, index, item);
    return true;
}

void forward_to(DataQueue& target) {
    for (const BoundRoute& bound :
         bound_routes([&](const BoundRoute& each) { return each.route.target == target.number; }))
        if (Result<Pin<DataQueue>> source = find_queue(bound.route.source); source.ok()) forward_items(**source);
}

void forward_all() {
    for (const BoundRoute& bound : bound_routes([](const BoundRoute&) { return true; }))
        if (Result<Pin<DataQueue>> source = find_queue(bound.route.source); source.ok()) forward_items(**source);
}

void routes_shared() {
    Routes& list = routes();
    MutexLock guard(list.mutex);
    begin(list);
    for (const BoundRoute& each : list.all)
        if (each.route.status == RouteStatus::bound && shared_with_others(each)) return start_keeper(list);
}

}  // namespace canopy
