// SPDX-License-Identifier: Apache-2.0
// Separate physical memory and addresses: handles for the former, reservations and mappings for the latter. Physical
// memory lives while a handle or a mapping refers to it. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory_range.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "core/share/porter.h"

namespace canopy {

// The aclrtMemLocationType values that physical memory can have.
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
    Handle handle = 0;  // its current handle; may be closed. Guarded by the address space's mutex.
    // The key under which other processes import it; ends with the last handle. Guarded by the address space's mutex.
    std::optional<SharedKey> exported;
    std::shared_ptr<void> import;  // of memory of another process: tells it when this block is gone
};

// A handle to physical memory.
class PhysicalMemory {
public:
    Handle self = 0;
    std::shared_ptr<PhysicalBlock> block;
    std::uint32_t references = 0;  // releases still due; guarded by the address space's mutex
    void recycle() noexcept {
        self = 0;
        references = 0;
        block.reset();
    }
};

// 100000 for unsupported properties.
Status check_physical_properties(const PhysicalProperties& properties);
Result<std::size_t> physical_granularity(const PhysicalProperties& properties, bool recommended);
// 107000 unless `size` is a multiple of the granularity; 207001 if there is no room.
Result<Handle> allocate_physical(std::size_t size, const PhysicalProperties& properties);
// Drops one reference. The memory itself stays while it is mapped.
Status release_physical(Handle handle);
// A handle for the memory mapped at an address; must be released like an allocated one.
Result<Handle> retain_physical(DeviceAddress address);
Result<PhysicalProperties> physical_properties(Handle handle);
// Between processes (shared_memory.h): export, which calls `make` for the key unless there is one already (107000), and
// a handle for memory of another process on a device of this one.
Result<SharedKey> export_physical(Handle handle,
                                  const std::function<Result<SharedKey>(const std::shared_ptr<PhysicalBlock>&)>& make);
Result<Handle> adopt_physical(std::int64_t device, const FilePart& part, const PhysicalProperties& properties,
                              std::shared_ptr<void> import);

// `wanted` is null or an address between 16 and 24 TiB. The size is rounded up to the granularity.
Result<DeviceAddress> reserve_addresses(std::size_t size, DeviceAddress wanted);
// 107000 while anything is mapped in the reservation.
Status release_addresses(DeviceAddress address);
// `size` must be that of the physical memory. Mappings in a reservation must not overlap.
Status map_physical(DeviceAddress address, std::size_t size, Handle handle, bool accessible);
Status unmap_physical(DeviceAddress address);

struct AccessRequest {
    LocationKind location = LocationKind::device;
    std::uint32_t id = 0;
};
// Grants a device (or the host) access to the mappings that cover exactly [address, +size).
Status allow_access(DeviceAddress address, std::size_t size, const AccessRequest& request);
// True if it has access.
Result<bool> access_allowed(DeviceAddress address, const AccessRequest& request);

struct MappedPlace {
    bool reserved = false;           // the address is in a reservation
    bool accessible = false;         // and an accessible mapping is there
    DeviceRecord* record = nullptr;  // of the physical memory; nullptr if it is on the host
    DeviceRange range;               // of the mapping; empty if there is none
};
// One load while nothing is reserved.
[[nodiscard]] MappedPlace find_mapped(DeviceAddress address) noexcept;
// True if accessible mappings cover [address, +size) without a gap.
[[nodiscard]] bool mapped_throughout(DeviceAddress address, std::size_t size) noexcept;
[[nodiscard]] std::size_t reservation_count() noexcept;
// All physical memory that a handle or a mapping refers to.
[[nodiscard]] std::vector<std::shared_ptr<PhysicalBlock>> physical_blocks();

}  // namespace canopy
