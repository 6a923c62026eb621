// SPDX-License-Identifier: Apache-2.0
// Memory pools: stream-ordered allocation. A pool takes memory from its device in chunks and hands out blocks. A block
// is returned with the point in a stream after which it is no longer used: that stream can reuse it at once, other
// streams when the point has passed.
// Any thread. Lock order: a pool's mutex, the table of chunks, Stream::lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "foundation/mutex.h"

namespace canopy {

struct PoolOptions {
    std::int64_t device = 0;
    std::uint64_t limit = 0;  // bytes the pool may take from its device; 0: no limit
};

// Values of aclrtMemPoolAttr.
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

    // A block of at least `size` bytes, for use by work submitted to `stream` from now on.
    Result<DeviceAddress> take(std::size_t size, Handle stream);
    // Returns a block; others may use it after `sequence` of `stream`. Stream 0: free for all at once.
    Status give(DeviceAddress address, Handle stream, std::uint64_t sequence);
    // Keeps a block for a graph, whatever the program does with it, until give_kept. False if a graph already keeps it.
    Result<bool> keep(DeviceAddress address);
    Status give_kept(DeviceAddress address);
    // Returns idle chunks to the device until the pool holds at most `keep` bytes.
    void trim(std::uint64_t keep);
    // All work of `stream` is done: makes its freed blocks free for all and releases idle memory above the threshold.
    void after_synchronise(Handle stream);

    // Switches are read and set as 0 or 1.
    Result<std::uint64_t> attribute(PoolAttribute attribute);
    Status set_attribute(PoolAttribute attribute, std::uint64_t value);

    // True if no block is in use; then the pool's memory is back with its device and nothing more can be taken.
    bool drain();
    [[nodiscard]] std::size_t blocks_in_use();
    // The block that contains an address.
    [[nodiscard]] DeviceRange find(DeviceAddress address);

    void recycle() noexcept;

private:
    struct Block {
        std::size_t size = 0;
        DeviceAddress chunk{};
        bool used = false;
        bool kept = false;           // by a graph; then the program's own free has no effect
        Handle stream = 0;           // stream it was freed in; 0: free for all
        std::uint64_t sequence = 0;  // of that stream: after it the block is no longer used
    };
    using Blocks = std::map<DeviceAddress, Block>;

    [[nodiscard]] bool available(Block& block, Handle stream) const CANOPY_REQUIRES(mutex_);
    [[nodiscard]] static bool passed(const Block& block);
    Blocks::iterator find_fit(std::size_t size, Handle stream) CANOPY_REQUIRES(mutex_);
    Status grow(std::size_t size) CANOPY_REQUIRES(mutex_);
    void split(Blocks::iterator block, std::size_t size) CANOPY_REQUIRES(mutex_);
    void absorb(Blocks::iterator left, Blocks::iterator right) CANOPY_REQUIRES(mutex_);
    void merge_around(Blocks::iterator block) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] static bool mergeable(const Block& left, const Block& right);
    void release_chunk(DeviceAddress chunk) CANOPY_REQUIRES(mutex_);
    void trim_locked(std::uint64_t keep) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] bool idle(DeviceAddress chunk) CANOPY_REQUIRES(mutex_);

    Mutex mutex_;
    bool closed_ CANOPY_GUARDED_BY(mutex_) = false;
    Blocks blocks_ CANOPY_GUARDED_BY(mutex_);                                         // all blocks, by address
    std::set<std::pair<std::size_t, DeviceAddress>> free_ CANOPY_GUARDED_BY(mutex_);  // free blocks, by size
    std::map<DeviceAddress, std::size_t> chunks_ CANOPY_GUARDED_BY(mutex_);           // memory taken from the device
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
// 107017 if the handle is not a pool.
Result<Pin<MemoryPool>> find_pool(const void* handle);
// The pool whose memory contains an address; empty for other memory. One load while there are no pools.
Pin<MemoryPool> pool_of(DeviceAddress address) noexcept;
// Call when all work submitted to a stream so far is known to be done.
void pools_after_synchronise(Handle stream) noexcept;

}  // namespace canopy
