// SPDX-License-Identifier: Apache-2.0
#include "core/queue/queue.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <span>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/queue/kept_ends.h"

namespace canopy {
namespace {

constexpr std::uint32_t number_bits = 10, numbers = 1u << number_bits;
constexpr std::size_t places = 4096;
constexpr Handle left_place = 1;  // was used: a search goes on behind it

struct Queues {
    ProcessNumber process = own_process_number();
    HandleTable<DataQueue> table{HandleKind::queue};
    std::array<std::atomic<Handle>, places> by_number{};  // open addressing
    Mutex mutex;
    std::map<std::string, std::uint32_t> names CANOPY_GUARDED_BY(mutex);
    std::set<std::uint32_t> own CANOPY_GUARDED_BY(mutex);
    std::uint32_t last CANOPY_GUARDED_BY(mutex) = 0;
};

std::atomic<Queues*> current_queues{nullptr};

Queues& queues() {
    Queues* known = current_queues.load(std::memory_order_acquire);
    while (known == nullptr || known->process != own_process_number()) {
        auto fresh = std::make_unique<Queues>();
        if (current_queues.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
            return *fresh.release();
    }
    return *known;
}

std::size_t first_place(std::uint32_t number) { return (number * 2654435761u) % places; }

Pin<DataQueue> pin(std::uint32_t number) {
    Queues& all = queues();
    for (std::size_t step = 0, place = first_place(number); step < places; ++step, place = (place + 1) % places) {
        const Handle handle = all.by_number[place].load(std::memory_order_acquire);
        if (handle == 0) break;
        if (Pin<DataQueue> queue = all.table.pin(handle); queue && queue->number == number) return queue;
    }
    return {};
}

bool enter(Queues& all, std::uint32_t number, Handle handle) CANOPY_REQUIRES(all.mutex) {
    for (std::size_t step = 0, place = first_place(number); step < places; ++step, place = (place + 1) % places) {
        Handle seen = all.by_number[place].load(std::memory_order_relaxed);
        if (seen > left_place) continue;
        all.by_number[place].store(handle, std::memory_order_release);
        return true;
    }
    return false;
}

void leave(Queues& all, Handle handle) CANOPY_REQUIRES(all.mutex) {
    for (auto& place : all.by_number)
        if (place.load(std::memory_order_relaxed) == handle) place.store(left_place, std::memory_order_release);
}

Status unknown_queue(std::uint32_t number) {
    return fail(code::invalid_queue, "no queue of this process has the number {}", number);
}

Result<SharedReply> ask_creator(DataQueue& queue, std::uint32_t operation, std::uint64_t pool,
                                std::span<const int> descriptors) {
    const QueueQuestion question{queue.number, 0, 0, 0, pool};
    return queue.connection->ask(directory_key(queue.number), operation, std::as_bytes(std::span(&question, 1)),
                                 descriptors);
}

}  // namespace

SharedKey directory_key(std::uint32_t queue) noexcept {
    return SharedKey::from_number(SharedKind::queue, queue >> number_bits, 0);
}

void DataQueue::recycle() noexcept {
    KeptEnds::forget(*this, number);
    if (connection) connection->close(directory_key(number));
    number = 0;
    name.clear();
    ring.reset();
    own = false;
    rights.store(0);
    connection.reset();
    watcher.reset();
    routes_from.store(0);
    routes_to.store(0);
    deaths_seen.store(0);
    MutexLock guard(mutex);
    granted.clear();
    announced.clear();
}

Status DataQueue::announce(BufferPool& pool) {
    if (own) return {};
    MutexLock guard(mutex);
    if (announced.contains(pool.uid())) return {};
    // The file is sent only to a creator that does not have it: it could never close a second descriptor.
    const int descriptor = pool.file().descriptor();
    Result<SharedReply> reply = ask_creator(*this, queue_question::give_pool, pool.uid(), {});
    if (!reply.ok() && reply.status().code() == code::invalid_handle)
        reply = ask_creator(*this, queue_question::give_pool, pool.uid(), std::span(&descriptor, 1));
    if (!reply.ok()) return reply.status();
    announced.insert(pool.uid());
    return {};
}

BufferPool* DataQueue::pool_of(std::uint64_t uid, std::uint32_t& local_number) {
    if (BufferPool* pool = find_pool(uid, &local_number)) return pool;
    if (own) return nullptr;
    MutexLock guard(mutex);  // one at a time: a second descriptor of a file is a burden
    if (BufferPool* pool = find_pool(uid, &local_number)) return pool;
    Result<SharedReply> reply = ask_creator(*this, queue_question::want_pool, uid, {});
    if (!reply.ok() || reply->descriptors.count() != 1) return nullptr;
    if (!adopt_pool(reply->descriptors.take(0), uid).ok()) return nullptr;
    return find_pool(uid, &local_number);
}

void DataQueue::drain() noexcept {
    if (!ring->lock_reading()) return;
    std::uint64_t index = ring->head_index();
    for (std::uint32_t left = ring->count(); left > 0; --left, ++index) {
        const Item item = ring->get(index);
        if (item.kind != ItemKind::buffer || item.header >= BufferPool::headers) continue;
        std::uint32_t local = 0;
        BufferPool* pool = find_pool(item.pool, &local);
        if (pool == nullptr) continue;
        const Buffer buffer{pool, local, item.header, pool->owner(item.header)};
        if (buffer.owner.generation == item.generation) free_buffer(buffer).ignore();
    }
    ring->abandon_read();
}

Result<std::uint32_t> create_queue(const std::string& name, std::uint32_t depth) {
    Queues& all = queues();
    MutexLock guard(all.mutex);
    if (!name.empty() && all.names.contains(name))
        return fail(code::invalid_parameter, "a queue with the name {} exists", name);
    if (all.own.size() >= numbers - 1)
        return fail(code::over_limit, "this process has {} queues, the maximum", all.own.size());
    auto ring = std::make_unique<Ring>();
    if (!ring->create(random_uid(), depth))
        return fail(code::memory_allocation, "cannot create shared memory for a queue: {}", std::strerror(errno));
    do all.last = all.last % (numbers - 1) + 1;  // in turn, so that a number comes back late
    while (all.own.contains(all.last));
    const std::uint32_t number = static_cast<std::uint32_t>(::getpid()) << number_bits | all.last;
    const Handle handle = all.table.open([&](DataQueue& queue, Handle self) {
        queue.self = self;
        queue.number = number;
        queue.name = name.empty() ? "queue_" + std::to_string(number) : name;
        queue.ring = std::move(ring);
        queue.own = true;
        queue.rights.store(queue_right::all);
    });
    if (handle == 0 || !enter(all, number, handle)) {
        if (handle != 0) all.table.close(handle);
        return fail(code::over_limit, "too many queues are in use");
    }
    all.own.insert(all.last);
    if (!name.empty()) all.names.emplace(name, number);
    return number;
}

bool enter_queue(std::uint32_t number, std::unique_ptr<Ring> ring, std::uint32_t rights,
                 std::shared_ptr<Connection> connection, std::shared_ptr<Watcher> watcher) {
    Queues& all = queues();
    MutexLock guard(all.mutex);
    if (pin(number)) return false;
    const Handle handle = all.table.open([&](DataQueue& queue, Handle self) {
        queue.self = self;
        queue.number = number;
        queue.ring = std::move(ring);
        queue.rights.store(rights);
        queue.connection = std::move(connection);
        queue.watcher = std::move(watcher);
    });
    if (handle != 0 && !enter(all, number, handle)) all.table.close(handle);
    return handle != 0;
}

Result<Pin<DataQueue>> find_queue(std::uint32_t number) {
    Pin<DataQueue> queue = pin(number);
    if (!queue) return unknown_queue(number);
    return queue;
}

Result<Pin<DataQueue>> find_queue(std::uint32_t number, std::uint32_t rights) {
    Pin<DataQueue> queue = pin(number);
    if (!queue) [[unlikely]]
        return unknown_queue(number);
    if ((queue->rights.load(std::memory_order_relaxed) & rights) == 0) [[unlikely]]
        return fail(code::not_permitted, "this process was not granted that use of queue {}", number);
    return queue;
}

void leave_queue(DataQueue& queue) {
    Queues& all = queues();
    MutexLock guard(all.mutex);
    const Handle self = queue.self;
    if (all.table.close(self)) leave(all, self);
}

Status destroy_queue(std::uint32_t number) {
    Queues& all = queues();
    Pin<DataQueue> queue = pin(number);
    if (!queue) return unknown_queue(number);
    if (!queue->own) {
        if (queue->ring->open()) return fail(code::not_permitted, "queue {} belongs to another process", number);
        PoolUse use;
        queue->drain();
        leave_queue(*queue);
        sweep_queues();
        return {};
    }
    if (queue->routes_from.load() != 0 || queue->routes_to.load() != 0 || queue->ring->has_targets())
        return fail(code::internal, "queue {} is part of a route; unbind it first", number);
    {
        MutexLock guard(all.mutex);
        const Handle self = queue->self;
        if (!all.table.close(self)) return unknown_queue(number);
        leave(all, self);
        all.own.erase(number & (numbers - 1));
        all.names.erase(queue->name);
    }
    queue->ring->close();
    PoolUse use;
    queue->drain();
    sweep_queues();
    return {};
}

void for_each_queue(const std::function<void(DataQueue&)>& visit) {
    queues().table.for_each([&](Pin<DataQueue> queue) { visit(*queue); });
}

void sweep_queues() {
    PoolUse use;
    std::vector<Pin<DataQueue>> known;
    queues().table.for_each([&](Pin<DataQueue> queue) { known.push_back(std::move(queue)); });
    sweep_pools([&](std::uint64_t uid) -> const Ring* {
        for (const Pin<DataQueue>& queue : known)
            if (queue->ring->uid() == uid) return queue->ring.get();
        return nullptr;
    });
}

}  // namespace canopy
