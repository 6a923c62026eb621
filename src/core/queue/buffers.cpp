// SPDX-License-Identifier: Apache-2.0
#include "core/queue/buffers.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/error_text.h"
#include "base/kernel_thread.h"
#include "base/locked_files.h"
#include "core/base/error_codes.h"
#include "core/memory/copy.h"
#include "core/process/runtime.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::uint32_t max_pools = 4096;

struct Pools {
    ProcessNumber process = own_process_number();
    Mutex mutex;
    std::array<std::atomic<BufferPool*>, max_pools> all{};  // the own one first
    std::atomic<std::uint32_t> count{1};                    // places that were ever used; changed under the mutex
    std::vector<std::unique_ptr<BufferPool>> retired CANOPY_GUARDED_BY(mutex);
    std::atomic<std::uint32_t> users{0};
    std::atomic<bool> any_retired{false};
};

std::atomic<Pools*> current_pools{nullptr};

// A child of fork does not use what it inherited: its copy stays as it is.
Pools& pools() {
    Pools* known = current_pools.load(std::memory_order_acquire);
    while (known == nullptr || known->process != own_process_number()) {
        auto fresh = std::make_unique<Pools>();
        if (current_pools.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
            return *fresh.release();
    }
    return *known;
}

void free_retired(Pools& table) {
    std::vector<std::unique_ptr<BufferPool>> gone;
    MutexLock guard(table.mutex);
    if (table.users.load(std::memory_order_acquire) != 0) return;
    gone.swap(table.retired);
    table.any_retired.store(false, std::memory_order_relaxed);
}

Buffer buffer_at(std::uint32_t number, BufferPool& pool, std::uint32_t header) {
    return {&pool, number, header, pool.owner(header)};
}

bool alive_state(BufferState state) {
    return state == BufferState::owned || state == BufferState::moving || state == BufferState::queued;
}

// The head of the chain that a chained header is part of.
bool head_of(const BufferPool& pool, std::uint32_t header, Buffer& head, bool& known) {
    const BufferPool::Place place = pool.place(header);
    std::uint32_t number = 0;
    BufferPool* other = find_pool(place.of, &number);
    known = other != nullptr;
    if (!known) return false;
    const auto index = static_cast<std::uint32_t>(place.index >> 32);
    if (index >= BufferPool::headers) return false;
    head = buffer_at(number, *other, index);
    return head.owner.generation == static_cast<std::uint32_t>(place.index) && alive_state(head.owner.state);
}

Status not_a_buffer(Handle handle) {
    return fail(code::invalid_handle,
                "buffer {:#x} is not a buffer of this process: never allocated, freed, or given to a queue", handle);
}

}  // namespace

bool on_a_device(const void* address) { return Runtime::any_holds(address); }

namespace {

// A kernel sees the memory of its device as the host sees its own, and nothing may run below a kernel.
Status copy(void* to, const void* from, std::size_t size, bool with_device) {
    if (with_device && KernelThread::current() == nullptr)
        return copy_now(Copy{device_address(to), size, device_address(from), size});
    std::memcpy(to, from, size);
    return {};
}

}  // namespace

Status copy_from_program(void* to, const void* from, std::size_t size) {
    return copy(to, from, size, on_a_device(from));
}
Status copy_to_program(void* to, const void* from, std::size_t size) { return copy(to, from, size, on_a_device(to)); }

std::uint64_t random_uid() noexcept {
    std::uint64_t uid = 0;
    if (::getrandom(&uid, sizeof uid, 0) != sizeof uid) uid = static_cast<std::uint64_t>(now());
    return uid | 1;  // never 0
}

Handle Buffer::handle() const noexcept {
    return static_cast<Handle>(HandleKind::queue_buffer) << 56 | static_cast<Handle>(owner.generation) << 32 |
           static_cast<Handle>(number) << 16 | header;
}

PoolUse::PoolUse() noexcept { pools().users.fetch_add(1, std::memory_order_acq_rel); }

PoolUse::~PoolUse() {
    Pools& table = pools();
    if (table.users.fetch_sub(1, std::memory_order_acq_rel) == 1 && table.any_retired.load(std::memory_order_relaxed))
        free_retired(table);
}

BufferPool* find_pool(std::uint64_t uid, std::uint32_t* number) {
    if (uid == 0) return nullptr;
    Pools& table = pools();
    for (std::uint32_t i = 0; i < max_pools; ++i) {
        BufferPool* pool = table.all[i].load(std::memory_order_acquire);
        if (pool == nullptr) {
            if (i >= table.count.load(std::memory_order_acquire)) return nullptr;
            continue;
        }
        if (pool->uid() != uid) continue;
        if (number) *number = i;
        return pool;
    }
    return nullptr;
}

Result<BufferPool*> own_pool() {
    Pools& table = pools();
    if (BufferPool* pool = table.all[0].load(std::memory_order_acquire)) return pool;
    MutexLock guard(table.mutex);
    if (BufferPool* pool = table.all[0].load(std::memory_order_acquire)) return pool;
    auto pool = std::make_unique<BufferPool>();
    if (!pool->create(random_uid()))
        return fail(code::memory_allocation, "cannot create shared memory for buffers: {}", std::strerror(errno));
    table.all[0].store(pool.get(), std::memory_order_release);
    return pool.release();
}

Status adopt_pool(int descriptor, std::uint64_t uid) {
    Pools& table = pools();
    MutexLock guard(table.mutex);
    std::uint32_t place = 0;
    for (std::uint32_t i = 0; i < table.count; ++i) {
        BufferPool* pool = table.all[i].load(std::memory_order_acquire);
        if (pool != nullptr && pool->uid() == uid) {
            close_received(descriptor);
            return {};
        }
        if (pool == nullptr && i != 0 && place == 0) place = i;
    }
    auto pool = std::make_unique<BufferPool>();
    if (!pool->adopt(descriptor, uid))
        return fail(code::memory_allocation, "cannot map the buffers of another process: {}", std::strerror(errno));
    if (place == 0) {
        if (table.count == max_pools)
            return fail(code::over_limit, "buffers of {} processes are in use, the maximum", max_pools);
        place = table.count++;
    }
    table.all[place].store(pool.release(), std::memory_order_release);
    return {};
}

Result<Buffer> find_buffer(Handle handle) {
    if (kind_of(handle) != HandleKind::queue_buffer) return not_a_buffer(handle);
    const std::uint32_t number = slot_of(handle) >> 16;
    BufferPool* pool = number < max_pools ? pools().all[number].load(std::memory_order_acquire) : nullptr;
    if (pool == nullptr) return not_a_buffer(handle);
    Buffer buffer = buffer_at(number, *pool, slot_of(handle) & 0xFFFF);
    if (buffer.owner.generation != generation_of(handle)) return not_a_buffer(handle);
    if (buffer.owner.state == BufferState::chained) {
        Buffer head;
        bool known = false;
        if (head_of(*pool, buffer.header, head, known) && head.owner.state == BufferState::owned &&
            head.owner.process == own_process_number())
            return buffer;
    }
    if (buffer.owner.state != BufferState::owned || buffer.owner.process != own_process_number())
        return not_a_buffer(handle);
    return buffer;
}

Result<Buffer> find_whole_buffer(Handle handle) {
    Result<Buffer> buffer = find_buffer(handle);
    if (buffer.ok() && buffer->owner.state == BufferState::chained)
        return fail(code::param_invalid, "buffer {:#x} is part of a chain and belongs to its head", handle);
    return buffer;
}

Result<Buffer> allocate_buffer(std::uint64_t size) {
    Result<BufferPool*> pool = own_pool();
    if (!pool.ok()) return pool.status();
    const std::optional<std::uint32_t> header = (*pool)->allocate(size);
    if (!header) return fail(code::memory_allocation, "no room for a buffer of {} bytes", size);
    return buffer_at(0, **pool, *header);
}

Status free_buffer(const Buffer& buffer) {
    std::vector<Buffer> chain = chain_of(buffer);
    if (!buffer.pool->give_back(buffer.header, buffer.owner)) return not_a_buffer(buffer.handle());
    for (std::size_t i = 1; i < chain.size(); ++i) chain[i].pool->give_back(chain[i].header, chain[i].owner);
    buffer.pool->collect();
    return {};
}

Result<Buffer> reference_buffer(const Buffer& buffer) {
    const std::optional<std::uint32_t> header = buffer.pool->reference(buffer.header);
    if (!header) return fail(code::memory_allocation, "no room for a reference to buffer {:#x}", buffer.handle());
    return buffer_at(buffer.number, *buffer.pool, *header);
}

Result<Buffer> duplicate_buffer(const Buffer& buffer) {
    const auto one = [](const Buffer& from) -> Result<Buffer> {
        if (Result<Buffer> reference = reference_buffer(from); reference.ok()) return reference;
        const std::optional<BufferPool::View> view = from.pool->view(from.header);
        if (!view) return fail(code::param_invalid, "a buffer of another process is damaged");
        Result<Buffer> copy = allocate_buffer(view->capacity);
        if (!copy.ok()) return copy;
        std::memcpy(copy->pool->view(copy->header)->data, view->data, view->length);
        copy->pool->set_length(copy->header, view->length);
        std::memcpy(copy->pool->user_area(copy->header), from.pool->user_area(from.header), user_area_size);
        return copy;
    };
    Result<Buffer> head = one(buffer);
    if (!head.ok()) return head;
    const std::vector<Buffer> chain = chain_of(buffer);
    for (std::size_t i = 1; i < chain.size(); ++i) {
        Result<Buffer> part = one(chain[i]);
        const Status status = part.ok() ? append_to_chain(*head, *part) : part.status();
        if (status.ok()) continue;
        if (part.ok()) free_buffer(*part).ignore();
        free_buffer(*head).ignore();
        return status;
    }
    return head;
}

std::vector<Buffer> chain_of(const Buffer& head) {
    std::vector<Buffer> chain{head};
    const std::uint64_t place = std::uint64_t{head.header} << 32 | head.owner.generation;
    for (BufferLink link = head.pool->next(head.header); link.pool != 0 && chain.size() < max_chain;) {
        std::uint32_t number = 0;
        BufferPool* pool = link.header < BufferPool::headers ? find_pool(link.pool, &number) : nullptr;
        if (pool == nullptr) break;
        const Buffer part = buffer_at(number, *pool, link.header);
        const BufferPool::Place of = pool->place(link.header);
        if (part.owner.state != BufferState::chained || part.owner.generation != link.generation ||
            of.of != head.pool->uid() || of.index != place)
            break;
        chain.push_back(part);
        link = pool->next(link.header);
    }
    return chain;
}

Status append_to_chain(const Buffer& head, const Buffer& buffer) {
    const std::vector<Buffer> chain = chain_of(head), appended = chain_of(buffer);
    if (chain.size() + appended.size() > max_chain)
        return fail(code::param_invalid, "a chain has at most {} buffers; this one would have {}", max_chain,
                    chain.size() + appended.size());
    const std::uint64_t place = std::uint64_t{head.header} << 32 | head.owner.generation;
    const Buffer* last = &chain.back();
    for (const Buffer& part : appended) {
        const BufferPool::Place before = part.pool->place(part.header);
        part.pool->set_place(part.header, {head.pool->uid(), place});
        BufferOwner owner = part.owner;
        owner.state = BufferState::chained;
        owner.process = 0;
        if (!part.pool->change(part.header, part.owner, owner)) {
            part.pool->set_place(part.header, before);
            return not_a_buffer(part.handle());
        }
        last->pool->set_next(last->header, part.link());
        last = &part;
    }
    return {};
}

namespace {

// Whether somebody can still come to use the buffer: a process that lives, or one that takes it out of a queue.
bool needed(const Buffer& buffer, const std::function<const Ring*(std::uint64_t uid)>& ring_of) {
    const BufferPool::Place place = buffer.pool->place(buffer.header);
    if (buffer.owner.state == BufferState::chained) {
        Buffer head;
        bool known = false;
        return head_of(*buffer.pool, buffer.header, head, known) ? needed(head, ring_of) : !known;
    }
    if (buffer.owner.state != BufferState::queued && buffer.pool->file().alive(buffer.owner.process)) return true;
    const Ring* ring = ring_of(place.of);
    if (ring == nullptr) return buffer.owner.state == BufferState::queued;
    if (ring->holds(place.index, buffer.pool->uid(), buffer.header, buffer.owner.generation)) return true;
    // A process that has just taken it out became its owner before that.
    return buffer.pool->owner(buffer.header).word() != buffer.owner.word();
}

}  // namespace

void sweep_pools(const std::function<const Ring*(std::uint64_t uid)>& ring_of) {
    Pools& table = pools();
    if (BufferPool* own = table.all[0].load(std::memory_order_acquire)) {
        own->sweep([&](std::uint32_t header, BufferOwner owner) {
            using Fate = BufferPool::Fate;
            const BufferPool::Place place = own->place(header);
            if (owner.state == BufferState::chained) {
                Buffer head;
                bool known = false;
                return head_of(*own, header, head, known) || !known ? Fate::keep : Fate::free;
            }
            if (owner.state != BufferState::queued && own->file().alive(owner.process)) return Fate::keep;
            if (place.of == 0) return Fate::free;
            const Ring* ring = ring_of(place.of);
            if (ring == nullptr) return Fate::keep;
            if (!ring->holds(place.index, own->uid(), header, owner.generation)) return Fate::free;
            return owner.state == BufferState::queued ? Fate::keep : Fate::to_queue;
        });
        own->collect();
    }
    // Pools of processes that ended, with nothing left in them.
    MutexLock guard(table.mutex);
    for (std::uint32_t i = 1; i < table.count; ++i) {
        BufferPool* pool = table.all[i].load(std::memory_order_acquire);
        if (pool == nullptr || pool->maker_alive()) continue;
        if (pool->any([&](std::uint32_t header, BufferOwner owner) {
                return needed({pool, i, header, owner}, ring_of);
            }))
            continue;
        table.all[i].store(nullptr, std::memory_order_release);
        table.retired.emplace_back(pool);
        table.any_retired.store(true, std::memory_order_relaxed);
    }
}

}  // namespace canopy
