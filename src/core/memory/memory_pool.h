// SPDX-License-Identifier: Apache-2.0
// Memory pools: stream-ordered allocation. A pool takes memory from its device in chunks, hands out blocks of it and
// takes them back together with the point of a stream after which nobody uses them any more. A freed block is handed
// out again at once to the stream it was freed in, and to others when that point has been passed.
// Any thread. Lock order: a pool's mutex, the table of chunks, Stream::lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"

namespace canopy {

struct PoolOptions {
    std::int64_t device = 0;
    std::uint64_t limit = 0;  // bytes the pool may take from its device; 0: no limit
};

// The numbers of aclrtMemPoolAttr.
enum class PoolAttribute : std::int32_t {
    reuse_follows_events = 1,
    reuse_opportunistic = 2,
    reuse_with_dependencies = 3,
    release_threshold = 4,
    reserved_now = 5,
    reserved_high = 6,
    used_now = 7,
    used_high = 8,
};

class MemoryPool {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    std::uint64_t limit = 0;

    // A block of at least `size` bytes that work submitted to `stream` from now on may use.
    Result<void*> take(std::size_t size, Handle stream);
    // Gives a block back; free for others after `sequence` of `stream`. A stream of 0: free for all at once.
    Status give(void* address, Handle stream, std::uint64_t sequence);
    // A graph keeps a block, whatever the program does with it, until it gives it back itself.
    // False: one keeps it already.
    Result<bool> keep(void* address);
    Status give_kept(void* address);
    // Returns idle chunks to the device until the pool holds at most `keep` bytes.
    void trim(std::uint64_t keep);
    // Everything `stream` was given is done: its freed blocks belong to all, and idle memory above the threshold goes.
    void after_synchronise(Handle stream);

    // Switches are read and set as 0 or 1.
    Result<std::uint64_t> attribute(PoolAttribute attribute);
    Status set_attribute(PoolAttribute attribute, std::uint64_t value);

    // True when no block is in use; the pool's memory is back with its device then, and nothing can be taken any more.
    bool drain();
    [[nodiscard]] std::size_t blocks_in_use();
    // The block that contains an address.
    [[nodiscard]] MemoryRange find(const void* address);

    void recycle() noexcept;

private:
    struct Block {
        std::size_t size = 0;
        std::byte* chunk = nullptr;
        bool used = false;
        bool kept = false;           // by a graph; the program's own free has no effect then
        Handle stream = 0;           // where it was freed; 0: free for all
        std::uint64_t sequence = 0;  // of that stream: after it nobody uses the block
    };
    using Blocks = std::map<std::byte*, Block>;

    [[nodiscard]] bool available(Block& block, Handle stream) const CANOPY_REQUIRES(mutex_);
    [[nodiscard]] static bool passed(const Block& block);
    Blocks::iterator find_fit(std::size_t size, Handle stream) CANOPY_REQUIRES(mutex_);
    Status grow(std::size_t size) CANOPY_REQUIRES(mutex_);
    void split(Blocks::iterator block, std::size_t size) CANOPY_REQUIRES(mutex_);
    void absorb(Blocks::iterator left, Blocks::iterator right) CANOPY_REQUIRES(mutex_);
    void merge_around(Blocks::iterator block) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] static bool mergeable(const Block& left, const Block& right);
    void release_chunk(std::byte* chunk) CANOPY_REQUIRES(mutex_);
    void trim_locked(std::uint64_t keep) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] bool idle(std::byte* chunk) CANOPY_REQUIRES(mutex_);

    Mutex mutex_;
    bool closed_ CANOPY_GUARDED_BY(mutex_) = false;
    Blocks blocks_ CANOPY_GUARDED_BY(mutex_);                                      // all of them, by address
    std::set<std::pair<std::size_t, std::byte*>> free_ CANOPY_GUARDED_BY(mutex_);  // free ones, by size
    std::map<std::byte*, std::size_t> chunks_ CANOPY_GUARDED_BY(mutex_);           // what the pool took from its device
    std::uint64_t reserved_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t reserved_high_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t used_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t used_high_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t threshold_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::size_t used_blocks_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool reuse_[3] CANOPY_GUARDED_BY(mutex_) = {true, true, true};  // attributes 1 to 3
};

Result<Handle> create_pool(const PoolOptions& options);
// 107000 while blocks of the pool are in use.
Status destroy_pool(Handle handle);
// 107017 when the handle is not a pool.
Result<Pin<MemoryPool>> find_pool(const void* handle);
// The pool whose memory an address lies in; empty for other memory. Costs one load while there are no pools.
Pin<MemoryPool> pool_of(const void* address) noexcept;
// To be called when everything submitted to a stream so far is known to be done.
void pools_after_synchronise(Handle stream) noexcept;

}  // namespace canopy
