// SPDX-License-Identifier: Apache-2.0
// Memory as programs see it: which kind an address is, and plain allocation on a device. Copies, sets and every other
// call that takes addresses ask here first. All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/memory_range.h"
#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

enum class MemoryKind : std::uint8_t {
    unknown,          // the process's own: heap, stack, globals; may be paged out as far as a device knows
    device,           // from a device's heap, pools included
    pinned_host,      // from aclrtMallocHost
    registered_host,  // the process's own, registered
    managed,          // reachable under one address from host and devices
    mapped,           // inside a reserved range of addresses
};

// Where an address lies.
struct MemoryPlace {
    MemoryKind kind = MemoryKind::unknown;
    DeviceRecord* record = nullptr;  // of device and of mapped memory that is a device's
    MemoryRange range;               // the allocation, registration or mapping; empty when there is none at the address

    [[nodiscard]] bool on_device() const noexcept {
        return kind == MemoryKind::device || kind == MemoryKind::managed || (kind == MemoryKind::mapped && record);
    }
    // A device cannot reach it by itself: copies of it finish before the call returns.
    [[nodiscard]] bool pageable() const noexcept { return kind == MemoryKind::unknown; }
};

// Kind and owner of an address; never fails.
MemoryPlace classify(const void* address) noexcept;
// The same for `size` bytes that are about to be used: 107000 when the address lies where allocations are and fewer
// bytes than that belong to one. `argument` is how the caller names the address.
Result<MemoryPlace> usable_place(const void* address, std::size_t size, const char* argument);

// The same without words, for work that runs in a stream.
bool reachable(const void* address, std::size_t size) noexcept;

// What a call of the malloc family asks for. Policies are the numbers of aclrtMemMallocPolicy.
struct AllocationRequest {
    std::size_t size = 0;
    std::uint32_t policy = 0;
    bool padded = true;                       // the chip's bytes behind the end
    bool read_only_policy = false;            // the policy may ask for memory that kernels cannot write
    std::optional<std::int64_t> device = {};  // instead of the current one
};

// 107002 without a context, 100000 for size 0, 207001 when the device has no room.
Result<void*> allocate_device_memory(const AllocationRequest& request);
// Memory of the malloc family, managed memory, blocks of pools and, as known programs rely on it, pinned host memory.
// Needs no context. Waits for nothing, except that managed and pinned memory let work that can run finish.
Status release_device_memory(void* address);

// Bytes of a page of the memory an address lies in, as aclrtPointerGetAttributes reports it.
std::uint32_t page_size_of(const MemoryPlace& place) noexcept;

// What is alive outside of devices, for leak checks.
struct LiveMemory {
    std::uint64_t objects = 0;     // handles of physical memory, pools, reservations, registrations, allocators
    std::uint64_t host_bytes = 0;  // pinned and managed
};
LiveMemory count_live_memory() noexcept;

}  // namespace canopy
