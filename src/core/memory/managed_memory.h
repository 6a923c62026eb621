// SPDX-License-Identifier: Apache-2.0
// Managed memory: one address used by both host and devices. Pages are allocated when touched. Advice and prefetches
// are recorded per 2 MiB, so that programs can query them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory_range.h"
#include "base/result.h"

namespace canopy {

class Device;

inline constexpr std::size_t managed_granularity = std::size_t{2} << 20;
// Where managed memory is placed if the system has that range free.
inline constexpr std::uintptr_t managed_range_base = 0x90000000000;
inline constexpr std::uint64_t managed_range_size = std::uint64_t{3} << 40;

// A location named in advice; values of aclrtMemManagedLocationType.
enum class ManagedLocationKind : std::int32_t {
    invalid = 0,
    device = 1,
    host = 2,
    host_numa = 3,
    host_numa_current = 4
};
struct ManagedLocation {
    ManagedLocationKind kind = ManagedLocationKind::invalid;
    std::int32_t id = 0;
    friend bool operator==(const ManagedLocation&, const ManagedLocation&) = default;
};

enum class ManagedAdvice : std::int32_t {
    set_read_mostly = 0,
    unset_read_mostly = 1,
    set_preferred_location = 2,
    unset_preferred_location = 3,
    set_accessed_by = 4,
    unset_accessed_by = 5,
};

enum class ManagedAttribute : std::int32_t {
    read_mostly = 1,
    preferred_location = 2,
    accessed_by = 3,
    preferred_location_type = 4,
    preferred_location_id = 5,
    last_prefetch_location = 6,
    last_prefetch_location_type = 7,
    last_prefetch_location_id = 8,
};

// Returned for a range whose parts disagree or were never advised; the host's own number is -1.
inline constexpr std::int32_t no_location = -2;
inline constexpr std::int32_t host_location = -1;

// `size` is rounded up to whole granules. 207001 if there is no room.
Result<DeviceAddress> allocate_managed(std::size_t size);
Status release_managed(DeviceAddress address);
[[nodiscard]] std::optional<DeviceRange> find_managed(DeviceAddress address) noexcept;
[[nodiscard]] std::uint64_t managed_bytes() noexcept;
// All of it, for snapshots. `mark_managed` marks it; memory allocated later is not marked.
struct ManagedMemory {
    MemoryRange range;
    int file = -1;  // that it is mapped from; -1: private memory of this process
    bool marked = false;
};
[[nodiscard]] std::vector<ManagedMemory> all_managed();
void mark_managed() noexcept;
// Lets a device use all managed memory there is.
Status share_managed(Device& device);

// 107000 unless [address, +size) is whole granules of one managed allocation.
Status check_managed_range(DeviceAddress address, std::size_t size, const char* argument);
// 107000 for an unknown kind, 107001 for an unknown device.
Status check_managed_location(const ManagedLocation& location);

Status advise_managed(DeviceAddress address, std::size_t size, ManagedAdvice advice, const ManagedLocation& location);
Status note_prefetch(DeviceAddress address, std::size_t size, const ManagedLocation& location);
// Writes 32-bit values: one, or for accessed_by as many as fit, padded with no_location.
Status read_managed_attribute(ManagedAttribute attribute, DeviceAddress address, std::size_t size, void* data,
                              std::size_t data_size);

}  // namespace canopy
