// SPDX-License-Identifier: Apache-2.0
#include "core/queue/transfer.h"

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "base/kernel_thread.h"
#include "core/base/error_codes.h"
#include "core/queue/at_once.h"
#include "core/queue/kept_ends.h"
#include "core/queue/queue.h"
#include "core/queue/routes.h"

namespace canopy {
namespace {

Status failure(DataQueue& queue, Ring::Outcome outcome, bool writing) {
    switch (outcome) {
        case Ring::Outcome::closed:
            if (!queue.own && queue.ring->closed()) {  // its creator may have ended before it took the items out
                PoolUse use;
                queue.drain();
            }
            if (!queue.own && (queue.ring->closed() || queue.ring->count() == 0)) {
                leave_queue(queue);
                sweep_queues();
            }
            return fail(code::invalid_queue, "queue {} was destroyed, or its creator ended", queue.number);
        case Ring::Outcome::stopped:
            return fail(code::wait_timeout, "queue {} was stopped", queue.number);
        default:
            return writing ? fail(code::queue_full, "queue {} is full with {} items", queue.number, queue.ring->depth())
                           : fail(code::queue_empty, "queue {} is empty", queue.number);
    }
}

// A lock was taken over from a process that died: its buffers may be looked for.
void after_deaths(DataQueue& queue) {
    const std::uint32_t deaths = queue.ring->deaths();
    if (queue.deaths_seen.exchange(deaths) != deaths) sweep_queues();
}

inline void check_deaths(DataQueue& queue) {
    if (queue.ring->deaths() != queue.deaths_seen.load(std::memory_order_relaxed)) [[unlikely]]
        after_deaths(queue);
}

// Before a thread takes the lock that it may keep itself.
inline void give_back(KeptEnd* end, std::uint32_t number) noexcept {
    if (end != nullptr) [[unlikely]]
        end->give_back(number);
}

Status put_buffer(DataQueue& queue, const Buffer& buffer, Deadline deadline) {
    for (const Buffer& part : chain_of(buffer)) CANOPY_TRY(queue.announce(*part.pool));
    const BufferOwner moving{buffer.owner.generation, BufferState::moving, buffer.owner.process};
    if (!buffer.pool->change(buffer.header, buffer.owner, moving))
        return fail(code::invalid_handle, "buffer {:#x} is used by another thread", buffer.handle());
    give_back(KeptEnds::writing(queue.number), queue.number);
    std::uint64_t index = 0;
    const Ring::Outcome outcome = queue.ring->begin_write(deadline, index);
    if (outcome != Ring::Outcome::done) {
        buffer.pool->change(buffer.header, moving, buffer.owner);
        return failure(queue, outcome, true);
    }
    Item item{};
    item.pool = buffer.pool->uid();
    item.header = buffer.header;
    item.generation = buffer.owner.generation;
    item.kind = ItemKind::buffer;
    buffer.pool->set_place(buffer.header, {queue.ring->uid(), index});
    queue.ring->put(index, item);
    queue.ring->commit_write(index);
    // Its next owner may have it already.
    buffer.pool->change(buffer.header, moving, {buffer.owner.generation, BufferState::queued, 0});
    check_deaths(queue);
    help_after_write(queue);
    return {};
}

// With the read lock. The buffer of an item, still owned by the queue; false if another process damaged it.
bool look_at(DataQueue& queue, const Item& item, Buffer& buffer) {
    if (item.kind != ItemKind::buffer || item.header >= BufferPool::headers) return false;
    buffer.pool = queue.pool_of(item.pool, buffer.number);
    if (buffer.pool == nullptr) return false;
    buffer.header = item.header;
    buffer.owner = buffer.pool->owner(item.header);
    const BufferState state = buffer.owner.state;
    const bool there = state == BufferState::queued || state == BufferState::moving || state == BufferState::owned;
    if (!there || buffer.owner.generation != item.generation) return false;
    // A chain may lie in pools that are not mapped here yet.
    Buffer part = buffer;
    for (std::uint32_t i = 1; i < max_chain; ++i) {
        const BufferLink next = part.pool->next(part.header);
        if (next.pool == 0 || next.header >= BufferPool::headers) break;
        part.pool = queue.pool_of(next.pool, part.number);
        if (part.pool == nullptr) break;
        part.header = next.header;
    }
    return buffer.pool->view(buffer.header).has_value();
}

// With the read lock: the buffer becomes this process's.
bool adopt(Buffer& buffer) {
    for (;;) {
        const BufferOwner mine{buffer.owner.generation, BufferState::owned, own_process_number()};
        if (buffer.pool->change(buffer.header, buffer.owner, mine)) {
            buffer.owner = mine;
            return true;
        }
        // The process that put it in may just have said that it is queued.
        const BufferOwner now = buffer.pool->owner(buffer.header);
        if (now.generation != buffer.owner.generation || now.state == BufferState::returned ||
            now.state == BufferState::free || now.state == BufferState::chained)
            return false;
        buffer.owner = now;
    }
}

// Begins a read: this thread has the read lock and there is an item `index`, which no route of a dead process has
// passed on already.
Status begin_take(DataQueue& queue, Deadline deadline, std::uint64_t& index) {
    for (;;) {
        if (const Ring::Outcome outcome = queue.ring->begin_read(deadline, index); outcome != Ring::Outcome::done)
            return failure(queue, outcome, false);
        if (!queue.ring->routed() || !finish_for_dead(queue, index)) [[likely]]
            return {};
    }
}

// Ends a read: the item is out of the queue.
void finish_read(DataQueue& queue, std::uint64_t index) {
    queue.ring->commit_read(index);
    check_deaths(queue);
    help_after_read(queue);
}

Status too_large(std::uint32_t queue, std::size_t length, std::size_t room) {
    return fail(code::param_invalid, "the first item of queue {} has {} bytes, more than the {} of dataSize", queue,
                length, room);
}

// With the read lock.
Status read_inside(const Item& item, const QueueRoom& room, std::uint32_t queue, std::size_t& length) {
    length = item.length;
    if (length > room.size) return too_large(queue, length, room.size);
    if (room.user_size != 0) copy_user_data(item, room.user, room.user_size);
    return copy_to_program(room.data, item.area.data(), length);
}

// With the read lock. The pieces of a chain follow each other.
Status read_buffer(const Buffer& buffer, const QueueRoom& room, std::uint32_t queue, std::size_t& length) {
    std::vector<BufferPool::View> pieces;
    length = 0;
    for (const Buffer& part : chain_of(buffer))
        if (const std::optional<BufferPool::View> view = part.pool->view(part.header)) {
            pieces.push_back(*view);
            length += view->length;
        }
    if (length > room.size) return too_large(queue, length, room.size);
    std::size_t done = 0;
    for (const BufferPool::View& piece : pieces) {
        CANOPY_TRY(copy_to_program(static_cast<std::byte*>(room.data) + done, piece.data, piece.length));
        done += piece.length;
    }
    if (room.user_size != 0)
        std::memcpy(room.user, buffer.pool->user_area(buffer.header),
                    std::min<std::size_t>(room.user_size, user_area_size));
    return {};
}

}  // namespace

Status enqueue_buffer(std::uint32_t number, Handle handle, Deadline deadline) {
    Result<Pin<DataQueue>> queue = find_queue(number, queue_right::enqueue);
    if (!queue.ok()) return queue.status();
    PoolUse use;
    Result<Buffer> buffer = find_whole_buffer(handle);
    if (!buffer.ok()) return buffer.status();
    return put_buffer(**queue, *buffer, deadline);
}

Result<Handle> dequeue_buffer(std::uint32_t number, Deadline deadline) {
    Result<Pin<DataQueue>> found = find_queue(number, queue_right::dequeue);
    if (!found.ok()) return found.status();
    DataQueue& queue = **found;
    PoolUse use;
    give_back(KeptEnds::reading(number), number);
    for (;;) {
        std::uint64_t index = 0;
        CANOPY_TRY(begin_take(queue, deadline, index));
        const Item item = queue.ring->get(index);
        if (item.kind == ItemKind::inside) {
            Result<Buffer> buffer = allocate_buffer(std::max<std::uint32_t>(item.length, 1));
            if (!buffer.ok()) {
                queue.ring->abandon_read();
                return buffer.status();
            }
            std::memcpy(buffer->pool->view(buffer->header)->data, item.area.data(), item.length);
            buffer->pool->set_length(buffer->header, item.length);
            std::memcpy(buffer->pool->user_area(buffer->header), item.area.data() + item.length, item.user_length);
            finish_read(queue, index);
            return buffer->handle();
        }
        Buffer buffer;
        const bool good = look_at(queue, item, buffer) && adopt(buffer);
        finish_read(queue, index);
        if (good) return buffer.handle();
    }
}

Status enqueue_data(std::uint32_t number, const QueueData& data, Deadline deadline) {
    Result<Pin<DataQueue>> found = find_queue(number, queue_right::enqueue);
    if (!found.ok()) return found.status();
    DataQueue& queue = **found;
    if (data.size + data.user_size <= user_area_size) {
        while (KernelThread::current() == nullptr) {
            const AtOnce result = enqueue_at_once(number, data.data, data.size, data.user, data.user_size);
            if (result == AtOnce::done) return {};
            if (result == AtOnce::other) break;
            if (const Ring::Outcome outcome = queue.ring->await_room(deadline); outcome != Ring::Outcome::done)
                return failure(queue, outcome, true);
        }
        give_back(KeptEnds::writing(number), number);
        Item item{};  // all of it is copied into the queue
        item.length = static_cast<std::uint32_t>(data.size);
        item.user_length = static_cast<std::uint16_t>(data.user_size);
        item.kind = ItemKind::inside;
        CANOPY_TRY(copy_from_program(item.area.data(), data.data, data.size));
        if (data.user_size != 0) std::memcpy(item.area.data() + data.size, data.user, data.user_size);
        std::uint64_t index = 0;
        if (const Ring::Outcome outcome = queue.ring->begin_write(deadline, index); outcome != Ring::Outcome::done)
            return failure(queue, outcome, true);
        queue.ring->put(index, item);
        queue.ring->commit_write(index);
        check_deaths(queue);
        help_after_write(queue);
        if (KernelThread::current() == nullptr) KeptEnds::count_written(queue, *queue.ring, number, index);
        return {};
    }
    PoolUse use;
    Result<Buffer> buffer = allocate_buffer(data.size);
    if (!buffer.ok()) return buffer.status();
    Status status = copy_from_program(buffer->pool->view(buffer->header)->data, data.data, data.size);
    if (status.ok()) {
        buffer->pool->set_length(buffer->header, data.size);
        if (data.user_size != 0) std::memcpy(buffer->pool->user_area(buffer->header), data.user, data.user_size);
        status = put_buffer(queue, *buffer, deadline);
    }
    if (!status.ok()) free_buffer(*buffer).ignore();
    return status;
}

Status dequeue_data(std::uint32_t number, const QueueRoom& room, std::size_t& length, Deadline deadline) {
    Result<Pin<DataQueue>> found = find_queue(number, queue_right::dequeue);
    if (!found.ok()) return found.status();
    DataQueue& queue = **found;
    while (KernelThread::current() == nullptr) {
        const AtOnce result = dequeue_at_once(number, room.data, room.size, length, room.user, room.user_size);
        if (result == AtOnce::done) return {};
        if (result == AtOnce::other) break;
        if (const Ring::Outcome outcome = queue.ring->await_item(deadline); outcome != Ring::Outcome::done)
            return failure(queue, outcome, false);
    }
    give_back(KeptEnds::reading(number), number);
    for (;;) {
        std::uint64_t index = 0;
        CANOPY_TRY(begin_take(queue, deadline, index));
        const Item item = queue.ring->get(index);
        if (item.kind == ItemKind::inside) {
            const Status status = read_inside(item, room, number, length);
            if (!status.ok()) {
                queue.ring->abandon_read();
            } else {
                finish_read(queue, index);
                if (KernelThread::current() == nullptr) KeptEnds::count_read(queue, *queue.ring, number, index);
            }
            return status;
        }
        PoolUse use;
        Buffer buffer;
        if (!look_at(queue, item, buffer)) {
            finish_read(queue, index);
            continue;
        }
        const Status status = read_buffer(buffer, room, number, length);
        if (!status.ok()) {
            queue.ring->abandon_read();
            return status;
        }
        const bool good = adopt(buffer);
        finish_read(queue, index);
        if (good) free_buffer(buffer).ignore();
        return {};
    }
}

}  // namespace canopy
