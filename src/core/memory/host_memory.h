// SPDX-License-Identifier: Apache-2.0
// Host memory that devices can reach: pinned allocations from one process-wide heap, and ranges of the process's own
// memory that programs register. All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/memory_range.h"
#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

struct PinnedRequest {
    std::size_t size = 0;
    DeviceRecord* visible_to = nullptr;  // kernels of this device may use the addresses as they are
};
// 100000 for size 0, 207001 when there is no room.
Result<void*> allocate_pinned(const PinnedRequest& request);
// 107000 unless the address is a live pinned allocation. Lets runnable work of the devices finish first and ends the
// allocation's registrations.
Status release_pinned(void* address);

[[nodiscard]] bool in_pinned_heap(const void* address) noexcept;
[[nodiscard]] std::optional<MemoryRange> find_pinned(const void* address) noexcept;
[[nodiscard]] MemoryUsage pinned_usage() noexcept;

// Ranges that programs registered.
struct Registration {
    MemoryRange host;
    DeviceRecord* record = nullptr;
    void* device_address = nullptr;
    bool pinned = false;  // registered to be pinned only, or as well
    bool mapped = false;  // devices reach it through device_address
};
// The address must be a multiple of 4 KiB unless the memory is pinned already. 507910 when a part of the range is
// registered already.
Result<void*> register_host_memory(const Registration& registration);
// 507911 unless the address is the start of a registered range.
Status unregister_host_memory(void* address);
[[nodiscard]] std::optional<Registration> find_registration(const void* address) noexcept;
[[nodiscard]] std::size_t registration_count() noexcept;
// The address by which kernels reach pinned or registered memory. 507911 when they cannot.
Result<void*> device_address_of(const void* host);

}  // namespace canopy
