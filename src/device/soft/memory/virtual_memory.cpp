// SPDX-License-Identifier: Apache-2.0
// SoftVirtualMemory: bookkeeping in three ordered maps; the system's page tables do the work.
#include "device/soft/memory/virtual_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error_text.h"
#include "base/process_state.h"

namespace canopy {

namespace {

constexpr int wrong_argument = 107000;
constexpr int unknown_handle = 107017;
constexpr int no_room = 207001;

// Places tried for a reservation before the system chooses one.
constexpr int attempts = 8;

std::uintptr_t number(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

bool whole_pages(std::uint64_t value) noexcept { return value % SoftVirtualMemory::page == 0; }

// The next place to try. All devices of the process share one sequence. It starts in the middle of the range, so that
// the addresses programs are likely to request stay free, and wraps around, so that freed addresses are reused late.
struct Places {
    Mutex mutex;
    std::uintptr_t next CANOPY_GUARDED_BY(mutex) = (SoftVirtualMemory::first_address + SoftVirtualMemory::end_address) /
                                                   2;
};
std::uintptr_t next_place(std::size_t size, std::size_t alignment) {
    Places& places = process_state<Places>();
    MutexLock guard(places.mutex);
    std::uintptr_t place = round_up(places.next, alignment);
    if (place + size > SoftVirtualMemory::end_address) place = round_up(SoftVirtualMemory::first_address, alignment);
    places.next = place + size + SoftVirtualMemory::page;
    return place;
}

Result<Mapping> reserve_in_range(std::size_t size, std::size_t alignment) {
    const std::size_t range = SoftVirtualMemory::end_address - SoftVirtualMemory::first_address;
    if (size > range || alignment > range)
        return fail(no_room, "no room for a reservation of {} bytes aligned to {}", size, alignment);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::uintptr_t place = next_place(size, alignment);
        Result<Mapping> reserved = Mapping::reserve(size, alignment, place);
        if (!reserved.ok() || number(reserved->base()) == place) return reserved;
    }
    return Mapping::reserve(size, alignment);
}

}  // namespace

Result<std::unique_ptr<SoftVirtualMemory>> SoftVirtualMemory::create(const std::string& name, Heap& budget) {
    // Twice the budget, so that a large request rarely fails because the file is fragmented.
    const std::uint64_t span = std::min(OffsetAllocator::max_capacity, round_up(budget.usage().total, page) * 2);
    Result<OffsetAllocator> allocator = OffsetAllocator::create(span);
    if (!allocator.ok()) return allocator.status();
    Result<MemoryFile> file = MemoryFile::create(name, span);
    if (!file.ok()) return file.status();
    return std::unique_ptr<SoftVirtualMemory>(new SoftVirtualMemory(budget, std::move(*allocator), std::move(*file)));
}

SoftVirtualMemory::SoftVirtualMemory(Heap& budget, OffsetAllocator allocator, MemoryFile file)
    : budget_(budget), file_(std::move(file)), allocator_(std::move(allocator)) {}

SoftVirtualMemory::~SoftVirtualMemory() { budget_.unclaim(allocator_.used()); }

Result<VirtualMemory::Physical> SoftVirtualMemory::create(std::size_t size) {
    if (size == 0 || !whole_pages(size))
        return fail(wrong_argument, "physical memory of {} bytes: the size must be a positive multiple of {}", size,
                    page);
    MutexLock guard(mutex_);
    if (!budget_.claim(size))
        return fail(no_room, "no room for {} bytes of physical memory: {} bytes are free", size, budget_.usage().free);
    const auto offset = allocator_.allocate(size);
    if (!offset) {
        budget_.unclaim(size);
        return fail(no_room, "no room for {} bytes of physical memory in one piece", size);
    }
    physical_[++last_] = {*offset, size, 0, false};
    return last_;
}

std::optional<FilePart> SoftVirtualMemory::shared_part(Physical memory) const {
    MutexLock guard(mutex_);
    const auto found = physical_.find(memory);
    if (found == physical_.end()) return std::nullopt;
    const PhysicalPart& part = found->second;
    return FilePart{part.imported ? part.imported.descriptor() : file_.descriptor(), part.offset, part.size};
}

Result<VirtualMemory::Physical> SoftVirtualMemory::import(const FilePart& part) {
    Result<MemoryFile> file = MemoryFile::copy(part.descriptor);
    if (!file.ok()) return file.status();
    if (part.size == 0 || !whole_pages(part.size) || part.offset % page_size() != 0 ||
        !file->holds(part.offset, part.size))
        return fail(wrong_argument, "the other process shares {} bytes at {} of its file, which cannot be mapped",
                    part.size, part.offset);
    MutexLock guard(mutex_);
    physical_[++last_] = {part.offset, part.size, 0, false, std::move(*file)};
    return last_;
}

void SoftVirtualMemory::destroy(Physical memory) {
    MutexLock guard(mutex_);
    const auto found = physical_.find(memory);
    if (found == physical_.end()) return;
    found->second.destroyed = true;
    free_unmapped(memory);
}

// Frees destroyed memory that is no longer mapped.
void SoftVirtualMemory::free_unmapped(Physical memory) {
    const auto found = physical_.find(memory);
    const PhysicalPart& part = found->second;
    if (!part.destroyed || part.mappings != 0) return;
    if (!part.imported) {
        file_.discard(part.offset, part.size);
        allocator_.release(part.offset);
        budget_.unclaim(part.size);
    }
    physical_.erase(found);
}

Result<DeviceAddress> SoftVirtualMemory::reserve(std::size_t size, std::size_t alignment, DeviceAddress wanted) {
    if (size == 0 || !whole_pages(size))
        return fail(wrong_argument, "a reservation of {} bytes: the size must be a positive multiple of {}", size,
                    page);
    if (alignment != 0 && !std::has_single_bit(alignment))
        return fail(wrong_argument, "alignment {} is neither 0 nor a power of two", alignment);
    alignment = std::max(alignment, page);
    const std::uintptr_t wish = wanted.value();
    if (wish != 0 && (wish < first_address || wish >= end_address || size > end_address - wish))
        return fail(wrong_argument, "wanted address {} with {} bytes is not between {:#x} and {:#x}", wanted, size,
                    first_address, end_address);
    if (wish % alignment != 0)
        return fail(wrong_argument, "wanted address {} is not a multiple of {}", wanted, alignment);

    std::optional<Mapping> taken;
    if (wish != 0) {
        Result<Mapping> exact = Mapping::reserve(size, alignment, wish);
        if (exact.ok() && number(exact->base()) == wish) taken = std::move(*exact);
    }
    if (!taken) {
        Result<Mapping> anywhere = reserve_in_range(size, alignment);
        if (!anywhere.ok()) return anywhere.status();
        taken = std::move(*anywhere);
    }
    const DeviceAddress base = device_address(taken->base());
    MutexLock guard(mutex_);
    reservations_.emplace(base.value(), std::move(*taken));
    return base;
}

Status SoftVirtualMemory::unreserve(DeviceAddress address) {
    MutexLock guard(mutex_);
    const auto found = reservations_.find(address.value());
    if (found == reservations_.end()) return fail(wrong_argument, "no reservation starts at {}", address);
    if (anything_mapped(found->first, found->second.size()))
        return fail(wrong_argument, "memory is still mapped in the reservation at {}", address);
    reservations_.erase(found);
    return {};
}

Status SoftVirtualMemory::map(DeviceAddress address, std::size_t size, Physical memory, bool accessible) {
    MutexLock guard(mutex_);
    const auto found = physical_.find(memory);
    if (found == physical_.end() || found->second.destroyed)
        return fail(unknown_handle, "physical memory {} does not exist", memory);
    PhysicalPart& part = found->second;
    if (size != part.size)
        return fail(wrong_argument, "size {} is not the size of the physical memory, {}", size, part.size);
    if (!whole_pages(address.value())) return fail(wrong_argument, "address {} is not a multiple of {}", address, page);
    Mapping* reservation = reservation_around(address.value(), size);
    if (reservation == nullptr) return fail(wrong_argument, "{} bytes at {} are not in one reservation", size, address);
    if (anything_mapped(address.value(), size))
        return fail(wrong_argument, "memory is already mapped in the {} bytes at {}", size, address);
    const std::size_t offset = address.value() - number(reservation->base());
    MemoryFile& file = part.imported ? part.imported : file_;
    if (!file.map(*reservation, offset, size, part.offset, accessible ? Access::read_write : Access::none))
        return fail(no_room, "the system refuses to map {} bytes at {}", size, address);
    mappings_[address.value()] = {size, memory, accessible};
    ++part.mappings;
    return {};
}

Status SoftVirtualMemory::set_accessible(DeviceAddress address, std::size_t size) {
    MutexLock guard(mutex_);
    auto next = whole_mappings(address.value(), size);
    Mapping* reservation = reservation_around(address.value(), size);
    if (next == mappings_.end() || reservation == nullptr)
        return fail(wrong_argument, "the {} bytes at {} are not whole mappings", size, address);
    const std::size_t offset = address.value() - number(reservation->base());
    if (!reservation->protect(offset, size, Access::read_write))
        return fail(no_room, "the system refuses access to {} bytes at {}", size, address);
    for (; next != mappings_.end() && next->first < address.value() + size; ++next) next->second.accessible = true;
    return {};
}

Status SoftVirtualMemory::unmap(DeviceAddress address, std::size_t size) {
    MutexLock guard(mutex_);
    auto next = whole_mappings(address.value(), size);
    Mapping* reservation = reservation_around(address.value(), size);
    if (next == mappings_.end() || reservation == nullptr)
        return fail(wrong_argument, "the {} bytes at {} are not whole mappings", size, address);
    if (!reservation->clear(address.value() - number(reservation->base()), size))
        return fail(no_room, "the system refuses to unmap {} bytes at {}", size, address);
    while (next != mappings_.end() && next->first < address.value() + size) {
        const Physical memory = next->second.memory;
        next = mappings_.erase(next);
        --physical_.find(memory)->second.mappings;
        free_unmapped(memory);
    }
    return {};
}

Mapping* SoftVirtualMemory::reservation_around(std::uintptr_t address, std::size_t size) {
    auto after = reservations_.upper_bound(address);
    if (after == reservations_.begin()) return nullptr;
    Mapping& reservation = std::prev(after)->second;
    const std::size_t offset = address - number(reservation.base());
    return offset < reservation.size() && size <= reservation.size() - offset ? &reservation : nullptr;
}

bool SoftVirtualMemory::anything_mapped(std::uintptr_t address, std::size_t size) const {
    const auto after = mappings_.lower_bound(address + size);
    if (after == mappings_.begin()) return false;
    const auto last = std::prev(after);
    return last->first + last->second.size > address;
}

SoftVirtualMemory::Mappings::iterator SoftVirtualMemory::whole_mappings(std::uintptr_t address, std::size_t size) {
    const auto first = mappings_.find(address);
    std::size_t covered = 0;
    for (auto next = first; next != mappings_.end() && next->first - address == covered && covered < size; ++next)
        covered += next->second.size;
    return covered == size && size != 0 ? first : mappings_.end();
}

std::optional<SoftVirtualMemory::Mapped> SoftVirtualMemory::find(DeviceAddress address) const {
    MutexLock guard(mutex_);
    const auto after = mappings_.upper_bound(address.value());
    if (after == mappings_.begin()) return std::nullopt;
    const auto& [base, part] = *std::prev(after);
    if (address.value() - base >= part.size) return std::nullopt;
    return Mapped{{DeviceAddress(base), part.size}, part.memory, part.accessible};
}

std::optional<std::size_t> SoftVirtualMemory::size_of(Physical memory) const {
    MutexLock guard(mutex_);
    const auto found = physical_.find(memory);
    if (found == physical_.end() || found->second.destroyed) return std::nullopt;
    return found->second.size;
}

std::optional<std::uint64_t> SoftVirtualMemory::offset_of(Physical memory) const {
    MutexLock guard(mutex_);
    const auto found = physical_.find(memory);
    if (found == physical_.end() || found->second.destroyed) return std::nullopt;
    return found->second.offset;
}

SoftVirtualMemory::Counts SoftVirtualMemory::counts() const {
    MutexLock guard(mutex_);
    return {physical_.size(), reservations_.size(), mappings_.size()};
}

}  // namespace canopy
