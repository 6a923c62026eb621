// SPDX-License-Identifier: Apache-2.0
#include "core/memory/memory_pool.h"

#include <algorithm>

#include "base/error_text.h"
#include "base/mapping.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/stream/stream.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t block_granularity = 512;
constexpr std::size_t chunk_granularity = std::size_t{2} << 20;

// Maps chunks to their pools, to find the pool of an address.
struct ChunkTable {
    struct Entry {
        std::size_t size;
        Handle pool;
    };
    SharedMutex mutex;
    std::map<DeviceAddress, Entry> chunks CANOPY_GUARDED_BY(mutex);
    std::atomic<std::size_t> count{0};

    static ChunkTable& instance() { return process_state<ChunkTable>(); }
    void add(DeviceAddress chunk, std::size_t size, Handle pool) {
        WriterLock guard(mutex);
        chunks.emplace(chunk, Entry{size, pool});
        count.fetch_add(1, std::memory_order_release);
    }
    void remove(DeviceAddress chunk) {
        WriterLock guard(mutex);
        if (chunks.erase(chunk) != 0) count.fetch_sub(1, std::memory_order_release);
    }
    Handle find(DeviceAddress address) {
        if (count.load(std::memory_order_acquire) == 0) return 0;
        ReaderLock guard(mutex);
        auto after = chunks.upper_bound(address);
        if (after == chunks.begin()) return 0;
        auto found = std::prev(after);
        return address - found->first < found->second.size ? found->second.pool : 0;
    }
};

}  // namespace

bool MemoryPool::passed(const Block& block) {
    if (block.stream == 0) return true;
    const Pin<Stream> stream = Runtime::instance().streams.pin(block.stream);
    return !stream || stream->queue->completed() >= block.sequence;
}

bool MemoryPool::available(Block& block, Handle stream) const {
    if (block.stream == 0 || block.stream == stream) return true;
    const bool opportunistic = reuse_[static_cast<int>(PoolAttribute::reuse_opportunistic) - 1];
    if (!opportunistic && Runtime::instance().streams.alive(block.stream)) return false;
    if (!passed(block)) return false;
    block.stream = 0;
    return true;
}

// The smallest free block that is large enough and available to the stream.
MemoryPool::Blocks::iterator MemoryPool::find_fit(std::size_t size, Handle stream) {
    for (auto entry = free_.lower_bound({size, DeviceAddress{}}); entry != free_.end(); ++entry) {
        auto block = blocks_.find(entry->second);
        if (available(block->second, stream)) return block;
    }
    return blocks_.end();
}

Result<DeviceAddress> MemoryPool::take(std::size_t size, Handle stream) {
    if (size > SIZE_MAX - chunk_granularity)
        return fail(code::memory_allocation, "size {} is larger than any device's memory", size);
    size = round_up(size, block_granularity);
    MutexLock guard(mutex_);
    if (closed_) return fail(code::invalid_handle, "memPool was destroyed");
    auto block = find_fit(size, stream);
    if (block == blocks_.end()) {
        CANOPY_TRY(grow(size));
        block = find_fit(size, stream);
    }
    split(block, size);
    free_.erase({block->second.size, block->first});
    block->second.used = true;
    block->second.stream = 0;
    ++used_blocks_;
    used_ += block->second.size;
    used_high_ = std::max(used_high_, used_);
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->handed_over(block->first, block->second.size);
    return block->first;
}

Status MemoryPool::grow(std::size_t size) {
    std::size_t bytes = round_up(size, chunk_granularity);
    if (limit != 0 && bytes > limit - std::min(limit, reserved_)) {
        trim_locked(limit - std::min<std::uint64_t>(limit, bytes));
        bytes = std::min<std::size_t>(bytes, limit - reserved_);
        if (bytes < size)
            return fail(code::memory_allocation,
                        "the pool holds {} of at most {} bytes and has no idle block of {} bytes", reserved_, limit,
                        size);
    }
    if (device->memory_usage().free < bytes) trim_locked(0);
    Result<DeviceAddress> memory = device->allocate(bytes, memory_huge_pages);
    if (!memory.ok()) return memory.status();
    const DeviceAddress chunk = *memory;
    chunks_.emplace(chunk, bytes);
    blocks_.emplace(chunk, Block{bytes, chunk, false, false, 0, 0});
    free_.emplace(bytes, chunk);
    ChunkTable::instance().add(chunk, bytes, self);
    reserved_ += bytes;
    reserved_high_ = std::max(reserved_high_, reserved_);
    return {};
}

// Shrinks the block to `size` bytes; the rest becomes a free block with the same history.
void MemoryPool::split(Blocks::iterator block, std::size_t size) {
    const std::size_t rest = block->second.size - size;
    if (rest < block_granularity) return;
    free_.erase({block->second.size, block->first});
    Block behind = block->second;
    behind.size = rest;
    block->second.size = size;
    blocks_.emplace_hint(std::next(block), block->first + size, behind);
    free_.emplace(size, block->first);
    free_.emplace(rest, block->first + size);
}

bool MemoryPool::mergeable(const Block& left, const Block& right) {
    return !left.used && !right.used && left.chunk == right.chunk && left.stream == right.stream;
}

// `right` follows `left`; both are free.
void MemoryPool::absorb(Blocks::iterator left, Blocks::iterator right) {
    free_.erase({left->second.size, left->first});
    free_.erase({right->second.size, right->first});
    left->second.size += right->second.size;
    left->second.sequence = std::max(left->second.sequence, right->second.sequence);
    blocks_.erase(right);
    free_.emplace(left->second.size, left->first);
}

void MemoryPool::merge_around(Blocks::iterator block) {
    if (auto next = std::next(block); next != blocks_.end() && mergeable(block->second, next->second))
        absorb(block, next);
    if (block == blocks_.begin()) return;
    if (auto before = std::prev(block); mergeable(before->second, block->second)) absorb(before, block);
}

Status MemoryPool::give(DeviceAddress address, Handle stream, std::uint64_t sequence) {
    MutexLock guard(mutex_);
    auto block = blocks_.find(address);
    if (block == blocks_.end())
        return fail(code::param_invalid, "ptr {} is inside a pool's memory but is not the start of a block", address);
    if (!block->second.used) return fail(code::param_invalid, "ptr {} was already returned to its pool", address);
    if (block->second.kept) return {};
    block->second.used = false;
    block->second.stream = stream;
    block->second.sequence = sequence;
    --used_blocks_;
    used_ -= block->second.size;
    free_.emplace(block->second.size, block->first);
    merge_around(block);
    return {};
}

Result<bool> MemoryPool::keep(DeviceAddress address) {
    MutexLock guard(mutex_);
    auto block = blocks_.find(address);
    if (block == blocks_.end() || !block->second.used)
        return fail(code::param_invalid, "ptr {} is not a block of a pool in use", address);
    return !std::exchange(block->second.kept, true);
}

Status MemoryPool::give_kept(DeviceAddress address) {
    {
        MutexLock guard(mutex_);
        auto block = blocks_.find(address);
        if (block != blocks_.end()) block->second.kept = false;
    }
    return give(address, 0, 0);
}

bool MemoryPool::idle(DeviceAddress chunk) {
    for (auto block = blocks_.find(chunk); block != blocks_.end() && block->second.chunk == chunk; ++block)
        if (block->second.used || !passed(block->second)) return false;
    return true;
}

void MemoryPool::release_chunk(DeviceAddress chunk) {
    for (auto block = blocks_.find(chunk); block != blocks_.end() && block->second.chunk == chunk;) {
        free_.erase({block->second.size, block->first});
        block = blocks_.erase(block);
    }
    auto found = chunks_.find(chunk);
    reserved_ -= found->second;
    chunks_.erase(found);
    ChunkTable::instance().remove(chunk);
    device->release(chunk).ignore();
}

void MemoryPool::trim_locked(std::uint64_t keep) {
    for (auto chunk = chunks_.begin(); chunk != chunks_.end() && reserved_ > keep;) {
        const DeviceAddress base = chunk->first;
        ++chunk;
        if (idle(base)) release_chunk(base);
    }
}

void MemoryPool::trim(std::uint64_t keep) {
    MutexLock guard(mutex_);
    trim_locked(keep);
}

void MemoryPool::after_synchronise(Handle stream) {
    MutexLock guard(mutex_);
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
        if (block->second.used || block->second.stream != stream || !passed(block->second)) continue;
        block->second.stream = 0;
    }
    for (auto block = blocks_.begin(); block != blocks_.end();) {
        auto next = std::next(block);
        if (next != blocks_.end() && mergeable(block->second, next->second))
            absorb(block, next);
        else
            block = next;
    }
    if (reserved_ > threshold_) trim_locked(threshold_);
}

Result<std::uint64_t> MemoryPool::attribute(PoolAttribute attribute) {
    MutexLock guard(mutex_);
    switch (attribute) {
        case PoolAttribute::reuse_follows_events:
        case PoolAttribute::reuse_opportunistic:
        case PoolAttribute::reuse_with_dependencies:
            return reuse_[static_cast<int>(attribute) - 1] ? 1u : 0u;
        case PoolAttribute::release_threshold:
            return threshold_;
        case PoolAttribute::reserved_now:
            return reserved_;
        case PoolAttribute::reserved_high:
            return reserved_high_;
        case PoolAttribute::used_now:
            return used_;
        case PoolAttribute::used_high:
            return used_high_;
    }
    return fail(code::invalid_parameter, "attr {} is not an attribute of a pool", static_cast<int>(attribute));
}

Status MemoryPool::set_attribute(PoolAttribute attribute, std::uint64_t value) {
    MutexLock guard(mutex_);
    switch (attribute) {
        case PoolAttribute::reuse_follows_events:
        case PoolAttribute::reuse_opportunistic:
        case PoolAttribute::reuse_with_dependencies:
            if (value > 1)
                return fail(code::param_invalid, "value {} of attr {} is neither 0 nor 1", value,
                            static_cast<int>(attribute));
            reuse_[static_cast<int>(attribute) - 1] = value != 0;
            return {};
        case PoolAttribute::release_threshold:
            threshold_ = value;
            return {};
        case PoolAttribute::reserved_high:
        case PoolAttribute::used_high:
            if (value != 0)
                return fail(code::param_invalid, "value {} of attr {}: a high-water mark can only be set to 0", value,
                            static_cast<int>(attribute));
            (attribute == PoolAttribute::used_high ? used_high_ : reserved_high_) =
                attribute == PoolAttribute::used_high ? used_ : reserved_;
            return {};
        case PoolAttribute::reserved_now:
        case PoolAttribute::used_now:
            return fail(code::param_invalid, "attr {} can only be read", static_cast<int>(attribute));
    }
    return fail(code::invalid_parameter, "attr {} is not an attribute of a pool", static_cast<int>(attribute));
}

bool MemoryPool::drain() {
    MutexLock guard(mutex_);
    if (used_blocks_ != 0) return false;
    closed_ = true;
    while (!chunks_.empty()) release_chunk(chunks_.begin()->first);
    return true;
}

std::size_t MemoryPool::blocks_in_use() {
    MutexLock guard(mutex_);
    return used_blocks_;
}

DeviceRange MemoryPool::find(DeviceAddress address) {
    MutexLock guard(mutex_);
    auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return {};
    auto found = std::prev(after);
    const DeviceRange range{found->first, found->second.size};
    return found->second.used && range.contains(address) ? range : DeviceRange{};
}

void MemoryPool::recycle() noexcept {
    self = 0;
    record = nullptr;
    device = nullptr;
    limit = 0;
    MutexLock guard(mutex_);
    closed_ = false;
    blocks_.clear();
    free_.clear();
    chunks_.clear();
    reserved_ = reserved_high_ = used_ = used_high_ = threshold_ = 0;
    used_blocks_ = 0;
    std::fill(std::begin(reuse_), std::end(reuse_), true);
}

Result<Handle> create_pool(const PoolOptions& options) {
    Runtime& runtime = Runtime::instance();
    Result<DeviceRecord*> record = runtime.device(options.device);
    if (!record.ok()) return record.status();
    Result<Device*> device = (*record)->open();
    if (!device.ok()) return device.status();
    const Handle handle = runtime.memory_pools.open([&](MemoryPool& pool, Handle self) {
        pool.self = self;
        pool.record = *record;
        pool.device = *device;
        pool.limit = options.limit;
    });
    if (handle == 0) return fail(code::resource_alloc, "too many memory pools");
    return handle;
}

Status destroy_pool(Handle handle) {
    Result<Pin<MemoryPool>> pool = find_pool(opaque_of(handle));
    if (!pool.ok()) return pool.status();
    if (!(*pool)->drain())
        return fail(code::param_invalid, "memPool still has {} blocks in use; free them first",
                    (*pool)->blocks_in_use());
    Runtime::instance().memory_pools.close(handle);
    return {};
}

Result<Pin<MemoryPool>> find_pool(const void* handle) {
    Pin<MemoryPool> pool = Runtime::instance().memory_pools.pin(handle_of(handle));
    if (!pool) return fail(code::invalid_handle, "memPool {} is not a memory pool, or was destroyed", handle);
    return pool;
}

Pin<MemoryPool> pool_of(DeviceAddress address) noexcept {
    const Handle handle = ChunkTable::instance().find(address);
    return handle == 0 ? Pin<MemoryPool>() : Runtime::instance().memory_pools.pin(handle);
}

void pools_after_synchronise(Handle stream) noexcept {
    Runtime& runtime = Runtime::instance();
    if (runtime.memory_pools.live() == 0) return;
    runtime.memory_pools.for_each([&](Pin<MemoryPool> pool) { pool->after_synchronise(stream); });
}

}  // namespace canopy
