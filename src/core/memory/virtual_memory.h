// SPDX-License-Identifier: Apache-2.0
// Physical memory and addresses handled apart: handles for the one, reservations and mappings for the other. Physical
// memory lives while a handle or a mapping needs it. All functions from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/memory_range.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"

namespace canopy {

// The numbers of aclrtMemLocationType that physical memory can have.
enum class LocationKind : std::uint32_t { host = 0, device = 1, host_numa = 4 };

struct PhysicalProperties {
    std::int32_t memory_attribute = 0;  // of aclrtMemAttr
    LocationKind location = LocationKind::device;
    std::uint32_t location_id = 0;
};

// One piece of physical memory.
class PhysicalBlock {
public:
    PhysicalBlock(DeviceRecord& record, VirtualMemory& memory, VirtualMemory::Physical physical, std::size_t size,
                  const PhysicalProperties& properties) noexcept
        : record(record), memory(memory), physical(physical), size(size), properties(properties) {}
    ~PhysicalBlock() { memory.destroy(physical); }
    PhysicalBlock(const PhysicalBlock&) = delete;
    PhysicalBlock& operator=(const PhysicalBlock&) = delete;

    DeviceRecord& record;
    VirtualMemory& memory;
    const VirtualMemory::Physical physical;
    const std::size_t size;
    const PhysicalProperties properties;
    Handle handle = 0;  // that names it; may have been closed. Guarded by the address space's mutex.
};

// A handle of physical memory.
class PhysicalMemory {
public:
    Handle self = 0;
    std::shared_ptr<PhysicalBlock> block;
    std::uint32_t references = 0;  // calls that must free it; guarded by the address space's mutex
    void recycle() noexcept {
        self = 0;
        references = 0;
        block.reset();
    }
};

// 100000 for properties that cannot be had.
Status check_physical_properties(const PhysicalProperties& properties);
Result<std::size_t> physical_granularity(const PhysicalProperties& properties, bool recommended);
// 107000 unless `size` is a multiple of the granularity; 207001 when there is no room.
Result<Handle> allocate_physical(std::size_t size, const PhysicalProperties& properties);
// Gives up one reference. The memory itself stays while it is mapped.
Status release_physical(Handle handle);
// A handle for what is mapped at an address; to be released like one that was allocated.
Result<Handle> retain_physical(const void* address);
Result<PhysicalProperties> physical_properties(Handle handle);

// `wanted` is null or an address between 16 and 24 TiB. The size is rounded up to the granularity.
Result<void*> reserve_addresses(std::size_t size, void* wanted);
// 107000 while something is mapped in the reservation.
Status release_addresses(void* address);
// `size` is that of the physical memory. Mappings of one reservation lie side by side without overlapping.
Status map_physical(void* address, std::size_t size, Handle handle, bool accessible);
Status unmap_physical(void* address);

struct AccessRequest {
    LocationKind location = LocationKind::device;
    std::uint32_t id = 0;
};
// Lets a device (or the host) use the mappings that cover exactly [address, +size).
Status allow_access(void* address, std::size_t size, const AccessRequest& request);
// Whether it may.
Result<bool> access_allowed(const void* address, const AccessRequest& request);

struct MappedPlace {
    bool reserved = false;           // the address lies in a reservation
    bool accessible = false;         // and something is mapped there that may be used
    DeviceRecord* record = nullptr;  // of the physical memory; nullptr when it is the host's
    MemoryRange range;               // of the mapping; empty when there is none
};
// Costs one load while nothing is reserved.
[[nodiscard]] MappedPlace find_mapped(const void* address) noexcept;
// True when accessible mappings cover [address, +size) without a gap.
[[nodiscard]] bool mapped_throughout(const void* address, std::size_t size) noexcept;
[[nodiscard]] std::size_t reservation_count() noexcept;

}  // namespace canopy
