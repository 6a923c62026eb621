// SPDX-License-Identifier: Apache-2.0
#include "core/memory/memory.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/memory/allocator_registry.h"
#include "core/memory/device_variables.h"
#include "core/memory/host_memory.h"
#include "core/memory/managed_memory.h"
#include "core/memory/memory_pool.h"
#include "core/memory/shared_blocks.h"
#include "core/memory/virtual_memory.h"
#include "core/process/context.h"

namespace canopy {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::uint32_t read_only_policy_bit = 0x100000;
constexpr std::uint32_t bandwidth_policy_bits = 0x1100;  // hints that a software device ignores
// Values of aclrtMemMallocPolicy.
enum Policy : std::uint32_t {
    huge_first,
    huge_only,
    normal_only,
    huge_first_p2p,
    huge_only_p2p,
    normal_only_p2p,
    gibibyte_only,
    gibibyte_only_p2p
};

bool is_gibibyte_policy(std::uint32_t policy) noexcept {
    return policy == gibibyte_only || policy == gibibyte_only_p2p;
}

std::uint32_t page_flags(std::uint32_t policy, std::size_t size) noexcept {
    switch (policy) {
        case huge_first:
        case huge_first_p2p:
            return size <= mebibyte ? memory_default : memory_huge_pages;
        case huge_only:
        case huge_only_p2p:
        case gibibyte_only:
        case gibibyte_only_p2p:
            return memory_huge_pages;
        case normal_only:
        case normal_only_p2p:
            return memory_default;
        default:
            return size >= 2 * mebibyte ? memory_huge_pages : memory_default;
    }
}

MemoryPlace place_on_device(DeviceAddress address, DeviceRecord& record) noexcept {
    MemoryPlace place{MemoryKind::device, &record, {}};
    if (const std::optional<DeviceRange> range = record.opened()->find(address)) place.range = *range;
    if (const Pin<MemoryPool> pool = pool_of(address)) place.range = pool->find(address);
    return place;
}

// For memory outside the device heaps.
MemoryPlace place_elsewhere(DeviceAddress address) noexcept {
    if (in_pinned_heap(address))
        return {MemoryKind::pinned_host, nullptr, find_pinned(address).value_or(DeviceRange{})};
    if (const std::optional<DeviceRange> range = find_managed(address)) return {MemoryKind::managed, nullptr, *range};
    if (const MappedPlace mapped = find_mapped(address); mapped.reserved)
        return {MemoryKind::mapped, mapped.record, mapped.range};
    if (const std::optional<Registration> registration = find_registration(address))
        return {MemoryKind::registered_host, registration->record, device_range(registration->host)};
    if (const std::optional<DeviceVariable> variable = find_device_variable(address))
        return {MemoryKind::device, variable->record, variable->range};
    return {};
}

Status refuse(const MemoryPlace& place, DeviceAddress address, std::size_t size, const char* argument) {
    if (place.kind == MemoryKind::mapped)
        return fail(code::param_invalid, "{} {}: {} bytes of reserved addresses are not all mapped and accessible",
                    argument, address, size);
    const char* const owner = place.kind == MemoryKind::device ? "device memory" : "host memory of the runtime";
    if (place.range.size == 0)
        return fail(code::param_invalid, "{} {} is in {} that is not allocated", argument, address, owner);
    return fail(code::param_invalid, "{} {} is {} bytes from the end of its allocation, but {} are needed", argument,
                address, place.range.bytes_from(address), size);
}

}  // namespace

MemoryPlace classify(DeviceAddress address) noexcept {
    if (DeviceRecord* record = Runtime::instance().device_of(address)) return place_on_device(address, *record);
    return place_elsewhere(address);
}

Result<MemoryPlace> usable_place(DeviceAddress address, std::size_t size, const char* argument) {
    MemoryPlace place = classify(address);
    switch (place.kind) {
        case MemoryKind::unknown:
            return place;
        case MemoryKind::registered_host:
            if (place.range.bytes_from(address) < size) place = {};  // part of it is ordinary process memory
            return place;
        case MemoryKind::mapped:
            if (!mapped_throughout(address, size)) return refuse(place, address, size, argument);
            return place;
        default:
            if (place.range.size == 0 || place.range.bytes_from(address) < size)
                return refuse(place, address, size, argument);
            return place;
    }
}

bool reachable(DeviceAddress address, std::size_t size) noexcept {
    if (!address) return false;
    const MemoryPlace place = classify(address);
    switch (place.kind) {
        case MemoryKind::unknown:
        case MemoryKind::registered_host:
            return true;
        case MemoryKind::mapped:
            return mapped_throughout(address, size);
        default:
            return place.range.size != 0 && place.range.bytes_from(address) >= size;
    }
}

Result<DeviceAddress> allocate_device_memory(const AllocationRequest& request) {
    if (request.size == 0) [[unlikely]]
        return fail(code::invalid_parameter, "size must not be 0");
    if ((request.policy & read_only_policy_bit) != 0 && !request.read_only_policy) [[unlikely]]
        return fail(code::invalid_parameter,
                    "policy {:#x}: read-only memory can be allocated by aclrtMallocWithCfg only", request.policy);
    CANOPY_TRY(require_context());
    Result<DeviceRecord*> record = Runtime::instance().device(request.device.value_or(thread_state.device));
    if (!record.ok()) [[unlikely]]
        return record.status();
    Device* device = (*record)->opened();
    if (!device) [[unlikely]] {
        Result<Device*> opened = (*record)->open();
        if (!opened.ok()) return opened.status();
        device = *opened;
    }
    const std::uint32_t policy = request.policy & ~(read_only_policy_bit | bandwidth_policy_bits);
    const std::uint32_t flags = page_flags(policy, request.size);
    // In checking mode an allocation has exactly the requested size, so that the first byte past it is caught.
    std::size_t size = request.size;
    if (!device->info().checking && size < SIZE_MAX / 2) {
        const bool padded = request.padded && !is_gibibyte_policy(policy);
        size = (size + 31) / 32 * 32 + (padded ? (*record)->chip->malloc_padding : 0);
    }
    return device->allocate(size, flags);
}

Status release_device_memory(DeviceAddress address) {
    if (shared_memory_parts.load(std::memory_order_relaxed) != 0) [[unlikely]]
        if (const std::optional<Status> shared = release_shared(address)) return *shared;
    if (DeviceRecord* record = Runtime::instance().device_of(address)) [[likely]] {
        if (const Pin<MemoryPool> pool = pool_of(address)) [[unlikely]]
            return pool->give(address, 0, 0);
        return record->opened()->release(address);
    }
    const MemoryPlace place = place_elsewhere(address);
    switch (place.kind) {
        case MemoryKind::managed:
            return release_managed(address);
        case MemoryKind::pinned_host:
            return release_pinned(address);
        case MemoryKind::mapped:
            return fail(
                code::param_invalid,
                "devPtr {} is in reserved addresses; release them with aclrtUnmapMem and aclrtReleaseMemAddress",
                address);
        default:
            return fail(code::param_invalid, "devPtr {} is not device memory", address);
    }
}

std::uint32_t page_size_of(const MemoryPlace& place) noexcept {
    constexpr std::uint32_t normal = 4096, huge = 2u << 20;
    switch (place.kind) {
        case MemoryKind::device:
            return place.range.size > mebibyte ? huge : normal;
        case MemoryKind::managed:
        case MemoryKind::mapped:
            return huge;
        default:
            return normal;
    }
}

LiveMemory count_live_memory() noexcept {
    Runtime& runtime = Runtime::instance();
    const MemoryUsage pinned = pinned_usage();
    LiveMemory live;
    live.objects = runtime.physical_memory.live() + runtime.memory_pools.live() + reservation_count() +
                   registration_count() + allocator_count();
    live.host_bytes = pinned.total - pinned.free + managed_bytes();
    return live;
}

}  // namespace canopy
