// SPDX-License-Identifier: Apache-2.0
#include "core/memory/virtual_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error_text.h"
#include "base/mapping.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/check/host_check.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr DeviceAddress wanted_from(std::uintptr_t{16} << 40), wanted_to(std::uintptr_t{24} << 40);
constexpr std::size_t gibibyte = std::size_t{1} << 30;

struct Reservation {
    std::size_t size = 0;
    DeviceRecord* record = nullptr;  // device that owns the addresses
    VirtualMemory* memory = nullptr;
};

struct MappedBlock {
    std::size_t size = 0;
    std::shared_ptr<PhysicalBlock> block;
    std::uint64_t devices = 0;  // bit n: device n may use it
    bool host = false;
    bool accessible = false;  // the pages can be touched
};

// All reservations and mappings of this process.
struct AddressSpace {
    SharedMutex mutex;
    std::map<DeviceAddress, Reservation> reservations CANOPY_GUARDED_BY(mutex);
    std::map<DeviceAddress, MappedBlock> mappings CANOPY_GUARDED_BY(mutex);
    std::atomic<std::size_t> count{0};  // number of reservations, readable without the mutex

    static AddressSpace& instance() { return process_state<AddressSpace>(); }
};

template <class Map>
auto around(Map& map, DeviceAddress address) {
    auto after = map.upper_bound(address);
    if (after == map.begin()) return map.end();
    auto found = std::prev(after);
    return address - found->first < found->second.size ? found : map.end();
}

struct Owner {
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    VirtualMemory* memory = nullptr;
};

Result<Owner> owner_of(std::int64_t device_id) {
    Result<DeviceRecord*> record = Runtime::instance().device(device_id);
    if (!record.ok()) return record.status();
    Result<Device*> device = (*record)->open();
    if (!device.ok()) return device.status();
    VirtualMemory* const memory = (*device)->abilities().virtual_memory;
    if (!memory) return fail(code::not_supported, "device {} cannot map physical memory", device_id);
    return Owner{*record, *device, memory};
}

// The thread's device; device 0 for threads without one.
std::int64_t thread_device() noexcept { return thread_state.device >= 0 ? thread_state.device : 0; }

Result<Owner> owner_of(const PhysicalProperties& properties) {
    return owner_of(properties.location == LocationKind::device ? properties.location_id : thread_device());
}

bool is_gibibyte_attribute(std::int32_t attribute) noexcept {
    return attribute == 10 || attribute == 11 || attribute == 14 || attribute == 17;
}
bool is_ddr_attribute(std::int32_t attribute) noexcept {
    return attribute == 0 || attribute == 2 || attribute == 3 || attribute == 6 || attribute == 7;
}

Result<Pin<PhysicalMemory>> find_physical(Handle handle) {
    Pin<PhysicalMemory> memory = Runtime::instance().physical_memory.pin(handle);
    if (!memory) return fail(code::invalid_handle, "handle {} is not physical memory, or was freed", opaque_of(handle));
    return memory;
}

Result<Handle> open_handle(const std::shared_ptr<PhysicalBlock>& block) {
    const Handle handle = Runtime::instance().physical_memory.open([&](PhysicalMemory& memory, Handle self) {
        memory.self = self;
        memory.references = 1;
        memory.block = block;
    });
    if (handle == 0) return fail(code::resource_alloc, "too many handles of physical memory");
    block->handle = handle;
    return handle;
}

Status check_free(AddressSpace& space, DeviceAddress address, std::size_t size) CANOPY_REQUIRES_SHARED(space.mutex) {
    auto next = space.mappings.lower_bound(address);
    const bool taken = around(space.mappings, address) != space.mappings.end() ||
                       (next != space.mappings.end() && next->first - address < size);
    if (taken) return fail(code::param_invalid, "memory is already mapped at virPtr {}", address);
    return {};
}

// True if exactly this address could be reserved.
bool reserve_at(VirtualMemory& memory, DeviceAddress address, std::size_t size) {
    Result<DeviceAddress> reserved = memory.reserve(size, 0, address);
    if (!reserved.ok()) return false;
    if (*reserved == address) return true;
    memory.unreserve(*reserved).ignore();
    return false;
}

void forget(AddressSpace& space, std::map<DeviceAddress, Reservation>::iterator reservation)
    CANOPY_REQUIRES(space.mutex) {
    space.reservations.erase(reservation);
    space.count.fetch_sub(1, std::memory_order_release);
}

// Addresses belong to one device; an unused reservation moves to the device of the first memory mapped into it.
Status adopt(AddressSpace& space, std::map<DeviceAddress, Reservation>::iterator reservation, PhysicalBlock& block)
    CANOPY_REQUIRES(space.mutex) {
    if (reservation->second.memory == &block.memory) return {};
    auto mapped = space.mappings.lower_bound(reservation->first);
    if (mapped != space.mappings.end() && mapped->first - reservation->first < reservation->second.size)
        return fail(code::param_invalid, "the reservation at {} contains memory of device {}, not of device {}",
                    reservation->first, reservation->second.record->index, block.record.index);
    bool moved = false;
    // Only addresses that can be requested from a device can move.
    if (reservation->first >= wanted_from && reservation->first < wanted_to) {
        Reservation& held = reservation->second;
        CANOPY_TRY(held.memory->unreserve(reservation->first));
        moved = reserve_at(block.memory, reservation->first, held.size);
        if (moved)
            held = {held.size, &block.record, &block.memory};
        else if (!reserve_at(*held.memory, reservation->first, held.size))
            forget(space, reservation);
    }
    if (moved) return {};
    return fail(
        code::param_invalid,
        "memory of device {} cannot be mapped here: the addresses were reserved while another device was current",
        block.record.index);
}

std::uint64_t device_bit(const DeviceRecord& record) noexcept { return std::uint64_t{1} << record.index; }

}  // namespace

Status check_physical_properties(const PhysicalProperties& properties) {
    const std::int32_t attribute = properties.memory_attribute;
    if (attribute < 0 || attribute > 17) return fail(code::invalid_parameter, "memAttr {} does not exist", attribute);
    switch (properties.location) {
        case LocationKind::device:
            if (is_ddr_attribute(attribute))
                return fail(code::invalid_parameter, "memAttr {} is host memory, but the location is a device",
                            attribute);
            return Runtime::instance().device(properties.location_id).status();
        case LocationKind::host:
        case LocationKind::host_numa:
            if (!is_ddr_attribute(attribute) && attribute < 12)
                return fail(code::invalid_parameter, "memAttr {} is device memory, but the location is the host",
                            attribute);
            return {};
    }
    return fail(code::invalid_parameter, "location type {} cannot have physical memory",
                static_cast<std::uint32_t>(properties.location));
}

Result<std::size_t> physical_granularity(const PhysicalProperties& properties, bool recommended) {
    Result<Owner> owner = owner_of(properties);
    if (!owner.ok()) return owner.status();
    const std::size_t granularity = owner->memory->granularity(recommended);
    return is_gibibyte_attribute(properties.memory_attribute) ? std::max(granularity, gibibyte) : granularity;
}

Result<Handle> allocate_physical(std::size_t size, const PhysicalProperties& properties) {
    Result<std::size_t> granularity = physical_granularity(properties, false);
    if (!granularity.ok()) return granularity.status();
    if (size % *granularity != 0)
        return fail(code::param_invalid, "size {} is not a multiple of the granularity {}", size, *granularity);
    Result<Owner> owner = owner_of(properties);
    if (!owner.ok()) return owner.status();
    Result<VirtualMemory::Physical> physical = owner->memory->create(size);
    if (!physical.ok()) return physical.status();
    auto block = std::make_shared<PhysicalBlock>(*owner->record, *owner->memory, *physical, size, properties);
    WriterLock guard(AddressSpace::instance().mutex);
    return open_handle(block);
}

Status release_physical(Handle handle) {
    Result<Pin<PhysicalMemory>> memory = find_physical(handle);
    if (!memory.ok()) return memory.status();
    WriterLock guard(AddressSpace::instance().mutex);
    if ((*memory)->references == 0)
        return fail(code::invalid_handle, "handle {} is not physical memory, or was freed", opaque_of(handle));
    if (--(*memory)->references != 0) return {};
    Runtime::instance().physical_memory.close(handle);
    if (const auto key = std::exchange((*memory)->block->exported, std::nullopt)) unshare(*key);
    return {};
}

Result<Handle> retain_physical(DeviceAddress address) {
    AddressSpace& space = AddressSpace::instance();
    WriterLock guard(space.mutex);
    auto mapping = around(space.mappings, address);
    if (mapping == space.mappings.end())
        return fail(code::param_invalid, "no physical memory is mapped at virPtr {}", address);
    const std::shared_ptr<PhysicalBlock>& block = mapping->second.block;
    if (Pin<PhysicalMemory> memory = Runtime::instance().physical_memory.pin(block->handle);
        memory && memory->references) {
        ++memory->references;
        return block->handle;
    }
    return open_handle(block);
}

Result<PhysicalProperties> physical_properties(Handle handle) {
    Result<Pin<PhysicalMemory>> memory = find_physical(handle);
    if (!memory.ok()) return memory.status();
    return (*memory)->block->properties;
}

Result<SharedKey> export_physical(Handle handle,
                                  const std::function<Result<SharedKey>(const std::shared_ptr<PhysicalBlock>&)>& make) {
    Result<Pin<PhysicalMemory>> memory = find_physical(handle);
    if (!memory.ok()) return memory.status();
    WriterLock guard(AddressSpace::instance().mutex);
    const std::shared_ptr<PhysicalBlock> block = (*memory)->block;
    if (block->exported) return fail(code::param_invalid, "the physical memory is exported already");
    if (block->import) return fail(code::param_invalid, "the physical memory belongs to another process");
    Result<SharedKey> key = make(block);
    if (key.ok()) block->exported = *key;
    return key;
}

Result<Handle> adopt_physical(std::int64_t device, const FilePart& part, const PhysicalProperties& properties,
                              std::shared_ptr<void> import) {
    Result<Owner> owner = owner_of(device);
    if (!owner.ok()) return owner.status();
    Result<VirtualMemory::Physical> physical = owner->memory->import(part);
    if (!physical.ok()) return physical.status();
    auto block = std::make_shared<PhysicalBlock>(*owner->record, *owner->memory, *physical, part.size, properties);
    block->import = std::move(import);
    WriterLock guard(AddressSpace::instance().mutex);
    return open_handle(block);
}

Result<DeviceAddress> reserve_addresses(std::size_t size, DeviceAddress wanted) {
    if (wanted && (wanted < wanted_from || wanted >= wanted_to))
        return fail(code::param_invalid, "expectPtr {} is not between 16 and 24 TiB", wanted);
    Result<Owner> owner = owner_of(thread_device());
    if (!owner.ok()) return owner.status();
    const std::size_t granularity = owner->memory->granularity(false);
    if (size > SIZE_MAX - granularity)
        return fail(code::memory_allocation, "size {} is larger than the address space", size);
    size = (size + granularity - 1) / granularity * granularity;
    AddressSpace& space = AddressSpace::instance();
    WriterLock guard(space.mutex);
    Result<DeviceAddress> address = owner->memory->reserve(size, 0, wanted);
    if (!address.ok()) return address.status();
    space.reservations.emplace(*address, Reservation{size, owner->record, owner->memory});
    space.count.fetch_add(1, std::memory_order_release);
    return address;
}

Status release_addresses(DeviceAddress address) {
    AddressSpace& space = AddressSpace::instance();
    WriterLock guard(space.mutex);
    auto found = space.reservations.find(address);
    if (found == space.reservations.end())
        return fail(code::param_invalid, "virPtr {} is not the start of reserved addresses", address);
    auto mapped = space.mappings.lower_bound(found->first);
    if (mapped != space.mappings.end() && mapped->first - found->first < found->second.size)
        return fail(code::param_invalid, "physical memory is still mapped at {}; unmap it first", mapped->first);
    CANOPY_TRY(found->second.memory->unreserve(address));
    forget(space, found);
    return {};
}

Status map_physical(DeviceAddress address, std::size_t size, Handle handle, bool accessible) {
    Result<Pin<PhysicalMemory>> memory = find_physical(handle);
    if (!memory.ok()) return memory.status();
    const std::shared_ptr<PhysicalBlock> block = (*memory)->block;
    if (size != block->size)
        return fail(code::param_invalid, "size {} differs from the {} bytes of the physical memory", size, block->size);
    AddressSpace& space = AddressSpace::instance();
    WriterLock guard(space.mutex);
    auto reservation = around(space.reservations, address);
    if (reservation == space.reservations.end())
        return fail(code::param_invalid, "virPtr {} is not in reserved addresses", address);
    if (size > reservation->second.size - (address - reservation->first))
        return fail(code::param_invalid, "size {} at virPtr {} exceeds the reservation", size, address);
    CANOPY_TRY(check_free(space, address, size));
    CANOPY_TRY(adopt(space, reservation, *block));
    CANOPY_TRY(block->memory.map(address, size, block->physical, accessible));
    const bool on_device = block->properties.location == LocationKind::device;
    MappedBlock mapped{size, block, 0, false, accessible};
    if (accessible) {
        mapped.devices = device_bit(block->record);
        mapped.host = !on_device;
    }
    space.mappings.emplace(address, std::move(mapped));
    return {};
}

Status unmap_physical(DeviceAddress address) {
    AddressSpace& space = AddressSpace::instance();
    Device* device = nullptr;
    {
        ReaderLock guard(space.mutex);
        if (auto found = space.mappings.find(address); found != space.mappings.end())
            device = found->second.block->record.opened();
    }
    if (device) device->quiesce();  // outside the lock: work that finishes may look up its addresses
    WriterLock guard(space.mutex);
    auto found = space.mappings.find(address);
    if (found == space.mappings.end())
        return fail(code::param_invalid, "virPtr {} is not the start of mapped physical memory", address);
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->freed(address, found->second.size);
    CANOPY_TRY(found->second.block->memory.unmap(address, found->second.size));
    space.mappings.erase(found);
    return {};
}

Status allow_access(DeviceAddress address, std::size_t size, const AccessRequest& request) {
    if (request.location == LocationKind::device) {
        if (Result<DeviceRecord*> record = Runtime::instance().device(request.id); !record.ok()) return record.status();
    }
    AddressSpace& space = AddressSpace::instance();
    WriterLock guard(space.mutex);
    const DeviceAddress end = address + size;
    DeviceAddress next = address;
    for (auto mapping = space.mappings.find(next); next < end; ++mapping) {
        if (mapping == space.mappings.end() || mapping->first != next || mapping->second.size > end - next)
            return fail(code::param_invalid, "virPtr {} and size {} do not match the mapping there", address, size);
        next = next + mapping->second.size;
    }
    for (auto mapping = space.mappings.find(address); mapping != space.mappings.end() && mapping->first < end;
         ++mapping) {
        MappedBlock& mapped = mapping->second;
        if (!mapped.accessible) CANOPY_TRY(mapped.block->memory.set_accessible(mapping->first, mapped.size));
        mapped.accessible = true;
        if (request.location == LocationKind::device)
            mapped.devices |= std::uint64_t{1} << request.id;
        else
            mapped.host = true;
    }
    return {};
}

Result<bool> access_allowed(DeviceAddress address, const AccessRequest& request) {
    if (request.location == LocationKind::device) {
        if (Result<DeviceRecord*> record = Runtime::instance().device(request.id); !record.ok()) return record.status();
    }
    AddressSpace& space = AddressSpace::instance();
    ReaderLock guard(space.mutex);
    auto mapping = around(space.mappings, address);
    if (mapping == space.mappings.end())
        return fail(code::param_invalid, "no physical memory is mapped at virPtr {}", address);
    if (request.location == LocationKind::device) return (mapping->second.devices >> request.id & 1) != 0;
    return mapping->second.host;
}

MappedPlace find_mapped(DeviceAddress address) noexcept {
    MappedPlace place;
    AddressSpace& space = AddressSpace::instance();
    if (space.count.load(std::memory_order_acquire) == 0) return place;
    ReaderLock guard(space.mutex);
    place.reserved = around(space.reservations, address) != space.reservations.end();
    if (!place.reserved) return place;
    auto mapping = around(space.mappings, address);
    if (mapping == space.mappings.end()) return place;
    place.accessible = mapping->second.accessible;
    place.range = {mapping->first, mapping->second.size};
    if (mapping->second.block->properties.location == LocationKind::device)
        place.record = &mapping->second.block->record;
    return place;
}

bool mapped_throughout(DeviceAddress address, std::size_t size) noexcept {
    AddressSpace& space = AddressSpace::instance();
    ReaderLock guard(space.mutex);
    DeviceAddress next = address;
    const DeviceAddress end = next + size;
    if (end < address) return false;
    for (auto mapping = around(space.mappings, next); next < end; ++mapping) {
        if (mapping == space.mappings.end() || mapping->first > next || !mapping->second.accessible) return false;
        next = mapping->first + mapping->second.size;
    }
    return true;
}

std::vector<std::shared_ptr<PhysicalBlock>> physical_blocks() {
    AddressSpace& space = AddressSpace::instance();
    std::set<std::shared_ptr<PhysicalBlock>> found;
    ReaderLock guard(space.mutex);
    Runtime::instance().physical_memory.for_each([&](Pin<PhysicalMemory> memory) { found.insert(memory->block); });
    for (const auto& [address, mapped] : space.mappings) found.insert(mapped.block);
    return {found.begin(), found.end()};
}

std::size_t reservation_count() noexcept { return AddressSpace::instance().count.load(std::memory_order_acquire); }

}  // namespace canopy
