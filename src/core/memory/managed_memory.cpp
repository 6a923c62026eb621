// SPDX-License-Identifier: Apache-2.0
#include "core/memory/managed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <vector>

#include "base/error_text.h"
#include "base/mapping.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/process/context.h"
#include "core/process/runtime.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// What is recorded for one granule.
struct GranuleState {
    bool read_mostly = false;
    ManagedLocation preferred;
    ManagedLocation last_prefetch;
    std::uint64_t accessed_by = 0;  // bit n: device n
    bool accessed_by_host = false;
};

struct ManagedBlock {
    Mapping memory;
    MemoryFile file;  // empty if every device addresses the memory of this process
    std::vector<GranuleState> granules;
    bool marked = false;
    [[nodiscard]] DeviceRange range() const noexcept { return {device_address(memory.base()), memory.size()}; }
};

class ManagedBlocks {
public:
    static ManagedBlocks& instance() { return process_state<ManagedBlocks>(); }

    Result<DeviceAddress> allocate(std::size_t size) {
        WriterLock guard(mutex_);
        Result<Mapping> memory = Mapping::reserve(size, managed_granularity, free_place(size));
        if (!memory.ok()) return memory.status();
        MemoryFile file;
        bool usable = false;
        const Settings& settings = Runtime::instance().settings();
        if (settings.all_addressable() && !settings.cpu_isolated) {
            usable = memory->protect(0, size, Access::read_write);
        } else {
            Result<MemoryFile> made = MemoryFile::create("canopy-managed", size);
            if (!made.ok()) return made.status();
            file = std::move(*made);
            usable = file.map(*memory, 0, size, 0, Access::read_write);
        }
        if (!usable)
            return fail(code::memory_allocation, "the system has no room for {} bytes of managed memory", size);
        const DeviceAddress base = device_address(memory->base());
        ManagedBlock block{std::move(*memory), std::move(file), std::vector<GranuleState>(size / managed_granularity)};
        CANOPY_TRY(for_each_device([&](Device& device) { return share(device, block); }));
        blocks_.emplace(base, std::move(block));
        bytes.fetch_add(size, std::memory_order_release);
        return base;
    }

    std::vector<ManagedMemory> all() {
        ReaderLock guard(mutex_);
        std::vector<ManagedMemory> found;
        for (const auto& [address, block] : blocks_)
            found.push_back({{block.memory.base(), block.memory.size()}, block.file.descriptor(), block.marked});
        return found;
    }

    void mark() noexcept {
        WriterLock guard(mutex_);
        for (auto& [address, block] : blocks_) block.marked = true;
    }

    Status share_all(Device& device) {
        ReaderLock guard(mutex_);
        for (const auto& [address, block] : blocks_) CANOPY_TRY(share(device, block));
        return {};
    }

    Status release(DeviceAddress address) {
        WriterLock guard(mutex_);
        auto found = blocks_.find(address);
        if (found == blocks_.end())
            return fail(code::param_invalid, "devPtr {} is inside managed memory but is not the start of an allocation",
                        address);
        for_each_device([&](Device& device) {
            if (device.info().shares_memory()) device.unmap_host(host_memory(found->second));
            return Status();
        }).ignore();
        bytes.fetch_sub(found->second.memory.size(), std::memory_order_release);
        blocks_.erase(found);
        return {};
    }

    std::optional<DeviceRange> find(DeviceAddress address) {
        if (bytes.load(std::memory_order_acquire) == 0) return std::nullopt;
        ReaderLock guard(mutex_);
        const ManagedBlock* block = around(address);
        if (!block) return std::nullopt;
        return block->range();
    }

    // Calls visit(GranuleState&) for each granule of a range that check_managed_range accepts.
    template <class Visit>
    Status visit(DeviceAddress address, std::size_t size, Visit&& visit) {
        WriterLock guard(mutex_);
        ManagedBlock* block = around(address);
        const std::size_t first = block ? (address - block->range().base) / managed_granularity : 0;
        const std::size_t count = size / managed_granularity;
        if (!block || first + count > block->granules.size())
            return fail(code::param_invalid, "managed memory at {} was freed", address);
        for (std::size_t index = first; index < first + count; ++index) visit(block->granules[index]);
        return {};
    }

    std::atomic<std::uint64_t> bytes{0};

private:
    static HostMemory host_memory(const ManagedBlock& block) noexcept {
        return {{block.memory.base(), block.memory.size()}, block.file.descriptor(), 0};
    }
    static Status share(Device& device, const ManagedBlock& block) {
        return device.info().shares_memory() ? device.map_host(host_memory(block)).status() : Status();
    }
    template <class Visit>
    static Status for_each_device(Visit&& visit) {
        Runtime& runtime = Runtime::instance();
        for (std::uint32_t id = 0; id < runtime.device_count(); ++id) {
            Result<DeviceRecord*> record = runtime.device(id);
            if (Device* device = record.ok() ? (*record)->opened() : nullptr) CANOPY_TRY(visit(*device));
        }
        return {};
    }

    ManagedBlock* around(DeviceAddress address) CANOPY_REQUIRES_SHARED(mutex_) {
        auto after = blocks_.upper_bound(address);
        if (after == blocks_.begin()) return nullptr;
        ManagedBlock& block = std::prev(after)->second;
        return block.range().contains(address) ? &block : nullptr;
    }

    // The first gap in the preferred range; only a hint, because other mappings may lie there.
    std::uintptr_t free_place(std::size_t size) const CANOPY_REQUIRES_SHARED(mutex_) {
        DeviceAddress place(managed_range_base);
        for (auto block = blocks_.lower_bound(place); block != blocks_.end(); ++block) {
            if (block->first - place >= size) break;
            place = block->first + block->second.memory.size();
        }
        return place.value();
    }

    SharedMutex mutex_;
    std::map<DeviceAddress, ManagedBlock> blocks_ CANOPY_GUARDED_BY(mutex_);
};

std::int32_t location_number(const ManagedLocation& location) noexcept {
    switch (location.kind) {
        case ManagedLocationKind::device:
            return location.id;
        case ManagedLocationKind::invalid:
            return no_location;
        default:
            return host_location;
    }
}

// The value for a range: that of its first granule if all granules agree, else the value that means they disagree.
std::int32_t merged_value(ManagedAttribute attribute, const GranuleState& state, bool same) noexcept {
    const auto kind_of = [same](const ManagedLocation& location) {
        return same ? static_cast<std::int32_t>(location.kind)
                    : static_cast<std::int32_t>(ManagedLocationKind::invalid);
    };
    switch (attribute) {
        case ManagedAttribute::read_mostly:
            return same && state.read_mostly ? 1 : 0;
        case ManagedAttribute::preferred_location:
            return same ? location_number(state.preferred) : no_location;
        case ManagedAttribute::preferred_location_type:
            return kind_of(state.preferred);
        case ManagedAttribute::preferred_location_id:
            return same ? state.preferred.id : 0;
        case ManagedAttribute::last_prefetch_location:
            return same ? location_number(state.last_prefetch) : no_location;
        case ManagedAttribute::last_prefetch_location_type:
            return kind_of(state.last_prefetch);
        case ManagedAttribute::last_prefetch_location_id:
            return same ? state.last_prefetch.id : 0;
        case ManagedAttribute::accessed_by:
            break;
    }
    return no_location;
}

bool same_in(ManagedAttribute attribute, const GranuleState& left, const GranuleState& right) noexcept {
    switch (attribute) {
        case ManagedAttribute::read_mostly:
            return left.read_mostly == right.read_mostly;
        case ManagedAttribute::preferred_location:
        case ManagedAttribute::preferred_location_type:
        case ManagedAttribute::preferred_location_id:
            return left.preferred == right.preferred;
        case ManagedAttribute::accessed_by:
            return true;  // the result is the set of devices common to all parts
        default:
            return left.last_prefetch == right.last_prefetch;
    }
}

void write_accessed_by(std::uint64_t devices, bool host, std::int32_t* values, std::size_t count) noexcept {
    std::size_t used = 0;
    if (host && used < count) values[used++] = host_location;
    for (std::int32_t id = 0; id < 64 && used < count; ++id)
        if (devices >> id & 1) values[used++] = id;
    std::fill(values + used, values + count, no_location);
}

void apply(GranuleState& state, ManagedAdvice advice, const ManagedLocation& location) noexcept {
    const bool to_device = location.kind == ManagedLocationKind::device;
    const std::uint64_t bit = to_device ? std::uint64_t{1} << location.id : 0;
    switch (advice) {
        case ManagedAdvice::set_read_mostly:
            state.read_mostly = true;
            break;
        case ManagedAdvice::unset_read_mostly:
            state.read_mostly = false;
            break;
        case ManagedAdvice::set_preferred_location:
            state.preferred = location;
            break;
        case ManagedAdvice::unset_preferred_location:
            state.preferred = {};
            break;
        case ManagedAdvice::set_accessed_by:
            state.accessed_by |= bit;
            if (!to_device) state.accessed_by_host = true;
            break;
        case ManagedAdvice::unset_accessed_by:
            state.accessed_by &= ~bit;
            if (!to_device) state.accessed_by_host = false;
            break;
    }
}

}  // namespace

Result<DeviceAddress> allocate_managed(std::size_t size) {
    if (size > managed_range_size)
        return fail(code::memory_allocation, "size {} is larger than the {} bytes of managed addresses", size,
                    managed_range_size);
    return ManagedBlocks::instance().allocate(round_up(size, managed_granularity));
}

Status release_managed(DeviceAddress address) {
    quiesce_devices();
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        if (const std::optional<DeviceRange> range = find_managed(address); range && range->base == address)
            check->freed(address, range->size);
    return ManagedBlocks::instance().release(address);
}

std::vector<ManagedMemory> all_managed() { return ManagedBlocks::instance().all(); }

void mark_managed() noexcept { ManagedBlocks::instance().mark(); }

Status share_managed(Device& device) { return ManagedBlocks::instance().share_all(device); }

std::optional<DeviceRange> find_managed(DeviceAddress address) noexcept {
    return ManagedBlocks::instance().find(address);
}

std::uint64_t managed_bytes() noexcept { return ManagedBlocks::instance().bytes.load(std::memory_order_acquire); }

Status check_managed_range(DeviceAddress address, std::size_t size, const char* argument) {
    const std::optional<DeviceRange> range = find_managed(address);
    if (!range) return fail(code::param_invalid, "{} {} is not managed memory", argument, address);
    if (address.value() % managed_granularity != 0)
        return fail(code::param_invalid, "{} {} is not a multiple of {} bytes", argument, address, managed_granularity);
    if (size % managed_granularity != 0)
        return fail(code::param_invalid, "size {} is not a multiple of {} bytes", size, managed_granularity);
    const std::size_t rest = range->bytes_from(address);
    if (size > rest)
        return fail(code::param_invalid, "size {} is larger than the {} bytes of managed memory at {}", size, rest,
                    address);
    return {};
}

Status check_managed_location(const ManagedLocation& location) {
    switch (location.kind) {
        case ManagedLocationKind::device:
            return Runtime::instance().device(location.id).status();
        case ManagedLocationKind::host:
        case ManagedLocationKind::host_numa:
        case ManagedLocationKind::host_numa_current:
            return {};
        case ManagedLocationKind::invalid:
            break;
    }
    return fail(code::param_invalid, "location type {} does not exist", static_cast<std::int32_t>(location.kind));
}

Status advise_managed(DeviceAddress address, std::size_t size, ManagedAdvice advice, const ManagedLocation& location) {
    return ManagedBlocks::instance().visit(address, size, [&](GranuleState& state) { apply(state, advice, location); });
}

Status note_prefetch(DeviceAddress address, std::size_t size, const ManagedLocation& location) {
    return ManagedBlocks::instance().visit(address, size, [&](GranuleState& state) { state.last_prefetch = location; });
}

Status read_managed_attribute(ManagedAttribute attribute, DeviceAddress address, std::size_t size, void* data,
                              std::size_t data_size) {
    if (data_size < sizeof(std::int32_t) || data_size % sizeof(std::int32_t) != 0)
        return fail(code::param_invalid, "dataSize {} is not a multiple of {} bytes", data_size, sizeof(std::int32_t));
    std::optional<GranuleState> first;
    bool same = true;
    std::uint64_t devices = ~std::uint64_t{0};
    bool host = true;
    CANOPY_TRY(ManagedBlocks::instance().visit(address, size, [&](GranuleState& state) {
        if (!first) first = state;
        same = same && same_in(attribute, *first, state);
        devices &= state.accessed_by;
        host = host && state.accessed_by_host;
    }));
    if (!first) return fail(code::param_invalid, "size must not be 0");
    auto* values = static_cast<std::int32_t*>(data);
    const std::size_t count = data_size / sizeof(std::int32_t);
    if (attribute == ManagedAttribute::accessed_by) {
        write_accessed_by(devices, host, values, count);
        return {};
    }
    if (count != 1)
        return fail(code::param_invalid, "dataSize {} is not {} for this attribute", data_size, sizeof(std::int32_t));
    values[0] = merged_value(attribute, *first, same);
    return {};
}

}  // namespace canopy
