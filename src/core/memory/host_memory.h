// SPDX-License-Identifier: Apache-2.0
// Host memory that devices can access: pinned allocations from one process-wide heap, and ranges of ordinary process
// memory that programs register. Any thread.
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
    DeviceRecord* visible_to = nullptr;  // kernels of this device may use the addresses directly
};
// 100000 for size 0, 207001 if there is no room.
Result<void*> allocate_pinned(const PinnedRequest& request);
// 107000 unless the address is a live pinned allocation. Waits for runnable work on the devices and removes the
// allocation's registrations first.
Status release_pinned(DeviceAddress address);

// Lets a device that was opened use pinned and managed memory. Devices that address all memory of the process need
// nothing.
Status share_host_memory(Device& device);

[[nodiscard]] bool in_pinned_heap(DeviceAddress address) noexcept;
[[nodiscard]] std::optional<DeviceRange> find_pinned(DeviceAddress address) noexcept;
[[nodiscard]] MemoryUsage pinned_usage() noexcept;

// A range that a program registered.
struct Registration {
    MemoryRange host;
    DeviceRecord* record = nullptr;
    DeviceAddress mapped_at{};
    bool pinned = false;  // registered as pinned, alone or in addition to mapped
    bool mapped = false;  // devices access it through mapped_at
};
// The address must be a multiple of 4 KiB unless the memory is already pinned. 507910 if part of the range is already
// registered.
Result<DeviceAddress> register_host_memory(const Registration& registration);
// 507911 unless the address is the start of a registered range.
Status unregister_host_memory(DeviceAddress address);
[[nodiscard]] std::optional<Registration> find_registration(DeviceAddress address) noexcept;
[[nodiscard]] std::size_t registration_count() noexcept;
// The address at which kernels access pinned or registered memory. 507911 if they cannot.
Result<DeviceAddress> device_address_of(DeviceAddress host);

}  // namespace canopy
