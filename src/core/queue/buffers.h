// SPDX-License-Identifier: Apache-2.0
// Buffers that travel through queues. This process's own pool and the pools of others whose buffers it has received; a
// buffer's handle says which pool, which header, and which use of the header, and is valid while the header's owner
// word says that this process has it. After a fork without exec the child starts with no pools. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/queue/shared/pool.h"

namespace canopy {

inline constexpr std::uint64_t max_buffer_size = std::uint64_t{4} << 30;
inline constexpr std::uint32_t max_chain = 128;

// A header in a pool that is mapped here.
struct Buffer {
    BufferPool* pool = nullptr;
    std::uint32_t number = 0;  // of the pool, in this process
    std::uint32_t header = 0;
    BufferOwner owner;

    [[nodiscard]] Handle handle() const noexcept;
    [[nodiscard]] BufferLink link() const noexcept { return {pool->uid(), header, owner.generation}; }
};

// Keeps the pools of others in place while it exists; every function below needs one.
class PoolUse {
public:
    PoolUse() noexcept;
    ~PoolUse();
    PoolUse(const PoolUse&) = delete;
    PoolUse& operator=(const PoolUse&) = delete;
};

// A buffer that this process owns, alone or as a part of a chain that it owns. 107017.
Result<Buffer> find_buffer(Handle handle);
// The same, but not a part of a chain: 107000.
Result<Buffer> find_whole_buffer(Handle handle);

Result<Buffer> allocate_buffer(std::uint64_t size);
// Frees it with its chain. The owner word must still be the one in `buffer`.
Status free_buffer(const Buffer& buffer);
Result<Buffer> reference_buffer(const Buffer& buffer);
// A second buffer with the same content, chain included: by reference where possible.
Result<Buffer> duplicate_buffer(const Buffer& buffer);

Status append_to_chain(const Buffer& head, const Buffer& buffer);
// The buffers of the chain, the head first. What another process wrote into it wrongly ends it.
std::vector<Buffer> chain_of(const Buffer& head);

// The own pool, created by the first call.
Result<BufferPool*> own_pool();
// A pool that is mapped here; nullptr if there is none. Its number, for Buffer.
BufferPool* find_pool(std::uint64_t uid, std::uint32_t* number = nullptr);
// Maps a pool of another process; takes the descriptor over.
Status adopt_pool(int descriptor, std::uint64_t uid);

// Looks for headers of the own pool whose owners are gone, and for pools that nobody needs any more. `ring_of` finds a
// queue by its number in all processes.
void sweep_pools(const std::function<const Ring*(std::uint64_t uid)>& ring_of);

std::uint64_t random_uid() noexcept;

// Copies between memory of the host and of devices. The memory of queues and buffers is the host's.
bool on_a_device(const void* address);
Status copy_from_program(void* to, const void* from, std::size_t size);
Status copy_to_program(void* to, const void* from, std::size_t size);

}  // namespace canopy
