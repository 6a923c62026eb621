// SPDX-License-Identifier: Apache-2.0
// Memory as programs see it: what kind of memory an address is, and plain allocation on a device. Copies, fills and all
// other calls that take addresses check them here first. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/memory_range.h"
#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

enum class MemoryKind : std::uint8_t {
    unknown,          // ordinary process memory: heap, stack, globals; pageable as far as a device knows
    device,           // from a device's heap, pools included
    pinned_host,      // from aclrtMallocHost
    registered_host,  // ordinary process memory, registered
    managed,          // same address on host and devices
    mapped,           // inside a reserved address range
};

// What an address points to.
struct MemoryPlace {
    MemoryKind kind = MemoryKind::unknown;
    DeviceRecord* record = nullptr;  // of device memory, and of mapped memory on a device
    DeviceRange range;               // the allocation, registration or mapping; empty if there is none at the address

    [[nodiscard]] bool on_device() const noexcept {
        return kind == MemoryKind::device || kind == MemoryKind::managed || (kind == MemoryKind::mapped && record);
    }
    // A device cannot access it by itself: copies finish before the call returns.
    [[nodiscard]] bool pageable() const noexcept { return kind == MemoryKind::unknown; }
};

// Kind and owner of an address; never fails.
MemoryPlace classify(DeviceAddress address) noexcept;
// The same for `size` bytes about to be used: 107000 if the address is in memory managed by the runtime but the bytes
// are not all inside one allocation. `argument` is the caller's name for the address.
Result<MemoryPlace> usable_place(DeviceAddress address, std::size_t size, const char* argument);

// The same without an error message, for work that runs in a stream.
bool reachable(DeviceAddress address, std::size_t size) noexcept;

// A request of the malloc family. Policies are aclrtMemMallocPolicy values.
struct AllocationRequest {
    std::size_t size = 0;
    std::uint32_t policy = 0;
    bool padded = true;                       // adds the chip's padding after the end
    bool read_only_policy = false;            // the policy may request memory that kernels cannot write
    std::optional<std::int64_t> device = {};  // instead of the current device
};

// 107002 without a context, 100000 for size 0, 207001 if the device has no room.
Result<DeviceAddress> allocate_device_memory(const AllocationRequest& request);
// Frees memory of the malloc family, managed memory, pool blocks and, because known programs rely on it, pinned host
// memory. Needs no context. Freeing pinned or managed memory waits for runnable work.
Status release_device_memory(DeviceAddress address);

// Page size of the memory at a place, as aclrtPointerGetAttributes reports it.
std::uint32_t page_size_of(const MemoryPlace& place) noexcept;

// Live memory outside of devices, for leak checks.
struct LiveMemory {
    std::uint64_t objects = 0;     // handles of physical memory, pools, reservations, registrations, allocators
    std::uint64_t host_bytes = 0;  // pinned and managed
};
LiveMemory count_live_memory() noexcept;

}  // namespace canopy
