// SPDX-License-Identifier: Apache-2.0
#include "core/memory/host_memory.h"

#include <unistd.h>

#include <atomic>
#include <map>

#include "base/error_text.h"
#include "base/heap.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/memory/managed_memory.h"
#include "core/process/context.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t registration_alignment = 4096;

// Far from where processes have their own memory, so that the process of a device can have it at the same place.
constexpr std::uintptr_t pinned_place = 0x2000'0000'0000;

std::atomic<Heap*> opened_heap{nullptr};  // set once, never cleared

// Held while the heap is created and while it is shared with a device that was opened.
Mutex& opening_mutex() {
    static Mutex mutex;
    return mutex;
}

std::uint64_t machine_memory() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const std::uint64_t bytes = pages > 0 ? static_cast<std::uint64_t>(pages) * page_size() : std::uint64_t{4} << 30;
    return bytes < OffsetAllocator::max_capacity ? bytes : OffsetAllocator::max_capacity;
}

Status share(Device& device, const Heap& heap) {
    if (!device.info().shares_memory()) return {};
    return device.map_host({heap.range(), heap.file(), 0}).status();
}

Result<Heap*> pinned_heap() {
    if (Heap* heap = opened_heap.load(std::memory_order_acquire)) return heap;
    MutexLock guard(opening_mutex());
    if (Heap* heap = opened_heap.load(std::memory_order_relaxed)) return heap;
    HeapOptions options;
    options.name = "canopy-pinned";
    options.capacity = machine_memory();
    HostCheck* check = HostCheck::present();
    if (check && !check->checks_order()) check = nullptr;
    options.checking = Runtime::instance().settings().checking || check;  // each allocation has its own pages
    options.place = pinned_place;
    Result<std::unique_ptr<Heap>> heap = Heap::create(options);
    if (!heap.ok()) return heap.status();
    if (check) check->pages().begin((*heap)->range(), (*heap)->file());
    for (std::uint32_t id = 0; id < Runtime::instance().device_count(); ++id) {
        Result<DeviceRecord*> record = Runtime::instance().device(id);
        if (Device* device = record.ok() ? (*record)->opened() : nullptr) CANOPY_TRY(share(*device, **heap));
    }
    opened_heap.store(heap->get(), std::memory_order_release);
    return heap->release();
}

// By start address. Ranges never overlap.
struct Registrations {
    SharedMutex mutex;
    std::map<DeviceAddress, Registration> ranges CANOPY_GUARDED_BY(mutex);
    std::atomic<std::size_t> count{0};  // same as ranges.size(), readable without the mutex

    static Registrations& instance() { return process_state<Registrations>(); }
    // The range that contains an address; ranges.end() if there is none.
    auto around(DeviceAddress address) CANOPY_REQUIRES_SHARED(mutex) {
        auto after = ranges.upper_bound(address);
        if (after == ranges.begin()) return ranges.end();
        auto found = std::prev(after);
        return address - found->first < found->second.host.size ? found : ranges.end();
    }
    bool overlaps(DeviceAddress address, std::size_t size) CANOPY_REQUIRES_SHARED(mutex) {
        if (around(address) != ranges.end()) return true;
        auto next = ranges.lower_bound(address);
        return next != ranges.end() && next->first - address < size;
    }
};

// The pointer to memory of the heap, which is memory of this process.
void* pointer_in(const Heap& heap, DeviceAddress address) noexcept {
    const MemoryRange range = heap.range();
    return static_cast<std::byte*>(range.base) + (address - device_address(range.base));
}

// A pinned allocation's flags hold the device that may use its addresses directly: 0 for none, else index + 1.
std::uint32_t visible_flag(const DeviceRecord& record) noexcept { return record.index + 1; }
DeviceRecord* visible_to(const Heap& heap, DeviceAddress address) {
    const std::uint32_t flag = heap.flags(pointer_in(heap, address)).value_or(0);
    if (flag == 0) return nullptr;
    Result<DeviceRecord*> record = Runtime::instance().device(flag - 1);
    return record.ok() ? *record : nullptr;
}

HostMemory heap_memory(const Heap& heap, const MemoryRange& range) noexcept {
    return {range, heap.file(), heap.offset_of(range.base)};
}

HostMemory host_memory(const MemoryRange& range) noexcept {
    if (!in_pinned_heap(device_address(range.base))) return {range};
    return heap_memory(*opened_heap.load(std::memory_order_acquire), range);
}

// Removes all registrations inside a pinned allocation that is about to be freed.
void forget_registrations_in(const MemoryRange& range) noexcept {
    Registrations& registrations = Registrations::instance();
    if (registrations.count.load(std::memory_order_acquire) == 0) return;
    WriterLock guard(registrations.mutex);
    const DeviceRange gone = device_range(range);
    auto next = registrations.ranges.lower_bound(gone.base);
    while (next != registrations.ranges.end() && gone.contains(next->first)) {
        const Registration& registration = next->second;
        if (registration.mapped) registration.record->opened()->unmap_host(host_memory(registration.host));
        next = registrations.ranges.erase(next);
        registrations.count.fetch_sub(1, std::memory_order_release);
    }
}

}  // namespace

Status share_host_memory(Device& device) {
    MutexLock guard(opening_mutex());
    if (const Heap* heap = opened_heap.load(std::memory_order_acquire)) CANOPY_TRY(share(device, *heap));
    return share_managed(device);
}

namespace {

// Tells a check of the host where memory comes from.
Result<void*> noted(Result<void*> memory, std::size_t size) {
    if (HostCheck* const check = HostCheck::present(); check && memory.ok()) [[unlikely]]
        check->allocated(HostCheck::no_device, device_address(*memory), size);
    return memory;
}

}  // namespace

Result<void*> allocate_pinned(const PinnedRequest& request) {
    if (request.size == 0) return fail(code::invalid_parameter, "size must not be 0");
    Result<Heap*> heap = pinned_heap();
    if (!heap.ok()) return heap.status();
    if (!request.visible_to) return noted((*heap)->allocate(request.size, 0), request.size);
    Result<Device*> device = request.visible_to->open();
    if (!device.ok()) return device.status();
    Result<void*> memory = (*heap)->allocate(request.size, visible_flag(*request.visible_to));
    if (!memory.ok()) return memory;
    if (Result<DeviceAddress> mapped = (*device)->map_host(heap_memory(**heap, {*memory, request.size}));
        !mapped.ok()) {
        (*heap)->release(*memory).ignore();
        return mapped.status();
    }
    return noted(memory, request.size);
}

Status release_pinned(DeviceAddress address) {
    if (!in_pinned_heap(address))
        return fail(code::param_invalid, "hostPtr {} was not returned by aclrtMallocHost", address);
    Heap& heap = *opened_heap.load(std::memory_order_acquire);
    void* const memory = pointer_in(heap, address);
    if (const std::optional<MemoryRange> range = heap.find(memory); range && range->base == memory) {
        quiesce_devices();
        if (HostCheck* const check = HostCheck::present()) [[unlikely]]
            check->freed(address, range->size);
        forget_registrations_in(*range);
        if (DeviceRecord* record = visible_to(heap, address)) record->opened()->unmap_host(heap_memory(heap, *range));
    }
    return heap.release(memory);
}

bool in_pinned_heap(DeviceAddress address) noexcept {
    const Heap* heap = opened_heap.load(std::memory_order_acquire);
    return heap && device_range(heap->range()).contains(address);
}

std::optional<DeviceRange> find_pinned(DeviceAddress address) noexcept {
    if (!in_pinned_heap(address)) return std::nullopt;
    const Heap* heap = opened_heap.load(std::memory_order_acquire);
    const std::optional<MemoryRange> range = heap->find(pointer_in(*heap, address));
    return range ? std::optional(device_range(*range)) : std::nullopt;
}

MemoryUsage pinned_usage() noexcept {
    const Heap* heap = opened_heap.load(std::memory_order_acquire);
    return heap ? heap->usage() : MemoryUsage{};
}

Result<DeviceAddress> register_host_memory(const Registration& registration) {
    const MemoryRange range = registration.host;
    if (range.size == 0) return fail(code::invalid_parameter, "size must not be 0");
    const DeviceAddress address = device_address(range.base);
    if (address.value() % registration_alignment != 0 && !in_pinned_heap(address))
        return fail(code::param_invalid, "ptr {} is not a multiple of {} bytes", as_address(range.base),
                    registration_alignment);
    if (range.size > UINTPTR_MAX - address.value())
        return fail(code::param_invalid, "size {} exceeds the address space", range.size);

    Result<Device*> device = registration.record->open();
    if (!device.ok()) return device.status();
    Registrations& registrations = Registrations::instance();
    WriterLock guard(registrations.mutex);
    if (registrations.overlaps(address, range.size))
        return fail(code::host_already_registered, "host memory at {} (size {}) overlaps a registered range",
                    as_address(range.base), range.size);
    Registration entry = registration;
    if (entry.mapped) {
        Result<DeviceAddress> mapped = (*device)->map_host(host_memory(range));
        if (!mapped.ok()) return mapped.status();
        entry.mapped_at = *mapped;
    }
    registrations.ranges.emplace(address, entry);
    registrations.count.fetch_add(1, std::memory_order_release);
    return entry.mapped_at;
}

Status unregister_host_memory(DeviceAddress address) {
    quiesce_devices();
    Registrations& registrations = Registrations::instance();
    WriterLock guard(registrations.mutex);
    auto found = registrations.ranges.find(address);
    if (found == registrations.ranges.end())
        return fail(code::host_not_registered, "ptr {} is not the start of registered host memory", address);
    const Registration registration = found->second;
    registrations.ranges.erase(found);
    registrations.count.fetch_sub(1, std::memory_order_release);
    if (registration.mapped) registration.record->opened()->unmap_host(host_memory(registration.host));
    return {};
}

std::optional<Registration> find_registration(DeviceAddress address) noexcept {
    Registrations& registrations = Registrations::instance();
    if (registrations.count.load(std::memory_order_acquire) == 0) return std::nullopt;
    ReaderLock guard(registrations.mutex);
    auto found = registrations.around(address);
    if (found == registrations.ranges.end()) return std::nullopt;
    return found->second;
}

std::size_t registration_count() noexcept { return Registrations::instance().count.load(std::memory_order_acquire); }

Result<DeviceAddress> device_address_of(DeviceAddress host) {
    const std::optional<Registration> registration = find_registration(host);
    if (!registration && in_pinned_heap(host) && visible_to(*opened_heap.load(std::memory_order_acquire), host))
        return host;
    if (!registration) return fail(code::host_not_registered, "pHost {} is not registered host memory", host);
    if (!registration->mapped)
        return fail(code::host_not_registered, "pHost {} is registered without ACL_HOST_REG_MAPPED", host);
    return registration->mapped_at + (host - device_address(registration->host.base));
}

}  // namespace canopy
