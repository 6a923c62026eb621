// SPDX-License-Identifier: Apache-2.0
// Heap in checking mode: allocations with guard pages and known bytes around them, the quarantine of freed ones, and
// the description of addresses.
//
// A guarded block consists of the pages that hold the allocation and one inaccessible page:
//
//     | known bytes ... | allocation | 0 to 63 known bytes | no access |
//     ^ block           ^ base, 64-byte aligned            ^ guard page
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

#include "base/error_text.h"
#include "base/heap.h"

namespace canopy {

namespace {

constexpr std::byte known_byte{0xC5};

// An address farther away than this is not described as "past the end".
constexpr std::uint64_t near = std::uint64_t{64} << 10;

// Every guarded allocation costs the process two mappings, and a process out of mappings cannot even start a thread: a
// quarter of them is left for other uses.
std::uint64_t guarded_limit() noexcept {
    static const std::uint64_t limit = [] {
        std::uint64_t mappings = 65530;  // the system's default
        std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
        return mappings / 4 * 3 / 2;
    }();
    return limit;
}

std::atomic<std::uint64_t> guarded_count{0};  // of all heaps

// The first byte of [begin, end) that differs from the known byte, or `end`.
const std::byte* first_unknown(const std::byte* begin, const std::byte* end) noexcept {
    return std::find_if(begin, end, [](std::byte byte) { return byte != known_byte; });
}

const char* bytes_word(std::uint64_t count) noexcept { return count == 1 ? "byte" : "bytes"; }

}  // namespace

std::string CheckFinding::describe() const {
    const bool in_front = offset < 0;
    const auto distance = static_cast<std::uint64_t>(in_front ? -offset : offset - static_cast<std::int64_t>(size) + 1);
    return fmt::format("memory written {} {} {} the {}{}-byte allocation at {}", distance, bytes_word(distance),
                       in_front ? "before the start of" : "past the end of", freed ? "freed " : "", size, base);
}

Heap::~Heap() {
    if (checking_) guarded_count.fetch_sub(allocations_, std::memory_order_relaxed);
}

Result<void*> Heap::allocate_guarded(std::size_t size, std::uint32_t flags) noexcept {
    if (size > capacity_) return no_room(size);
    CANOPY_TRY(count_guarded());
    return finish_guarded(take(size, guarded_pages(size) + page_size(), {size, flags, State::in_transit}), size, flags);
}

Status Heap::count_guarded() noexcept {
    if (guarded_count.fetch_add(1, std::memory_order_relaxed) >= guarded_limit()) {
        guarded_count.fetch_sub(1, std::memory_order_relaxed);
        return fail(207001,
                    "checking mode keeps at most {} allocations at a time: each takes two of the mappings that "
                    "vm.max_map_count allows a process",
                    guarded_limit());
    }
    return {};
}

// Makes the block that was taken, if any, an allocation.
Result<void*> Heap::finish_guarded(std::optional<std::uint64_t> offset, std::size_t size,
                                   std::uint32_t flags) noexcept {
    const std::uint64_t pages = guarded_pages(size);
    if (!offset || !memory_.protect(*offset, pages, Access::read_write)) {
        guarded_count.fetch_sub(1, std::memory_order_relaxed);
        if (!offset) return no_room(size);
        SpinGuard guard(lock_);
        allocator_.release(*offset);
        forget(*offset, size);
        return fail(207001, "the system refuses access to {} bytes of device memory", size);
    }
    const OffsetAllocator::Block block{*offset, pages + page_size(), encode({size, flags, State::live})};
    fill_frame(block, size);
    SpinGuard guard(lock_);
    allocator_.set_tag(*offset, block.tag);
    return memory_.base() + base_in(block, size);
}

// The block is in transit: no other thread accesses its pages.
void Heap::release_guarded(const OffsetAllocator::Block& block) noexcept {
    Tag tag = decode(block.tag);
    auto finding = damage(block);
    if (finding) finding->freed = true;
    const std::uint64_t pages = guarded_pages(tag.size);
    memory_.protect(block.offset, pages, Access::none);
    file_.discard(block.offset, pages);
    guarded_count.fetch_sub(1, std::memory_order_relaxed);

    tag.state = State::quarantined;
    SpinGuard guard(lock_);
    if (finding) findings_.push_back(*finding);
    forget(base_in(block, tag.size), tag.size);
    allocator_.set_tag(block.offset, encode(tag));
    quarantine_.push_back(block.offset);
    quarantined_ += block.size;
    while (quarantined_ > quarantine_limit_ && leave_quarantine()) {
    }
}

// Makes the addresses of the oldest freed allocation available again; false if none is waiting.
bool Heap::leave_quarantine() noexcept {
    if (quarantine_.empty()) return false;
    const std::uint64_t offset = quarantine_.front();
    quarantine_.pop_front();
    quarantined_ -= allocator_.extent(offset).block.size;
    allocator_.release(offset);
    return true;
}

void Heap::fill_frame(const OffsetAllocator::Block& block, std::uint64_t size) noexcept {
    std::byte* begin = memory_.base() + block.offset;
    std::byte* base = memory_.base() + base_in(block, size);
    std::fill(begin, base, known_byte);
    std::fill(base + size, begin + guarded_pages(size), known_byte);
}

std::optional<CheckFinding> Heap::damage(const OffsetAllocator::Block& block) const noexcept {
    const std::uint64_t size = decode(block.tag).size;
    const std::byte* begin = memory_.base() + block.offset;
    std::byte* base = memory_.base() + base_in(block, size);
    const std::byte* end = begin + guarded_pages(size);
    const std::byte* found = first_unknown(begin, base);
    if (found == base) found = first_unknown(base + size, end);
    if (found == end) return std::nullopt;
    return CheckFinding{base, size, found - base, false};
}

std::optional<CheckFinding> Heap::check() {
    if (!checking_) return std::nullopt;
    std::optional<CheckFinding> finding;
    SpinGuard guard(lock_);
    if (!findings_.empty()) {
        finding = findings_.front();
        findings_.pop_front();
        return finding;
    }
    allocator_.for_each_live([&](const OffsetAllocator::Block& block) {
        const Tag tag = decode(block.tag);
        if (finding || tag.state != State::live) return;
        finding = damage(block);
        if (finding) fill_frame(block, tag.size);
    });
    return finding;
}

std::string Heap::describe(const void* address) const {
    Place place;
    {
        SpinGuard guard(lock_);
        place = locate(address);
    }
    return words(place);
}

Heap::Place Heap::locate(const void* address) const noexcept {
    if (!memory_.contains(address)) return {};
    const std::uint64_t offset = offset_of(address);
    const OffsetAllocator::Extent extent = allocator_.extent(offset);
    return extent.live ? locate_in_block(extent.block, offset) : locate_in_gap(extent.block, offset);
}

// `offset` may lie outside the block.
Heap::Place Heap::locate_in_block(const OffsetAllocator::Block& block, std::uint64_t offset) const noexcept {
    const Tag tag = decode(block.tag);
    Place place{Kind::inside, tag.state != State::live, base_in(block, tag.size), tag.size, 0};
    if (offset < place.base) {
        place.kind = Kind::before_start;
        place.distance = place.base - offset;
    } else if (offset < place.base + place.size) {
        place.distance = offset - place.base;
    } else {
        place.kind = Kind::past_end;
        place.distance = offset - (place.base + place.size) + 1;
    }
    return place;
}

Heap::Place Heap::locate_in_gap(const OffsetAllocator::Block& gap, std::uint64_t offset) const noexcept {
    for (std::size_t age = 1; age <= std::min(freed_count_, remembered); ++age) {
        const Freed& freed = freed_[(freed_count_ - age) % remembered];
        if (offset - freed.offset < freed.size)
            return {Kind::inside, true, freed.offset, freed.size, offset - freed.offset};
    }
    Place nearest{Kind::unallocated, false, 0, 0, near};
    // The neighbours before and after. If one is missing, the lookup yields the gap itself, which is not live.
    const std::uint64_t behind = std::min(gap.offset + gap.size, allocator_.capacity() - 1);
    for (const std::uint64_t neighbour : {gap.offset - std::min<std::uint64_t>(gap.offset, 1), behind}) {
        const OffsetAllocator::Extent extent = allocator_.extent(neighbour);
        const Place place = extent.live ? locate_in_block(extent.block, offset) : nearest;
        if (place.distance < nearest.distance) nearest = place;
    }
    if (nearest.kind == Kind::unallocated && offset < handed_out_) nearest.kind = Kind::freed_somewhere;
    return nearest;
}

std::string Heap::words(const Place& place) const {
    const void* base = memory_.base() + place.base;
    const char* freed = place.freed ? "freed " : "";
    switch (place.kind) {
        case Kind::foreign:
            return "not in device memory";
        case Kind::unallocated:
            return "in device memory that is not allocated";
        case Kind::freed_somewhere:
            return "in device memory that was freed";
        case Kind::inside:
            if (place.freed) return fmt::format("inside the freed {}-byte allocation at {}", place.size, base);
            return fmt::format("byte {} of the {}-byte allocation at {}", place.distance, place.size, base);
        case Kind::past_end:
            return fmt::format("{} {} past the end of the {}{}-byte allocation at {}", place.distance,
                               bytes_word(place.distance), freed, place.size, base);
        case Kind::before_start:
            return fmt::format("{} {} before the start of the {}{}-byte allocation at {}", place.distance,
                               bytes_word(place.distance), freed, place.size, base);
    }
    return {};
}

Status Heap::refuse_release(const void* address) const {
    Place place;
    {
        SpinGuard guard(lock_);
        place = locate(address);
    }
    const std::string where = words(place);
    if (place.kind == Kind::freed_somewhere || (place.kind == Kind::inside && place.freed))
        return fail(107000, "cannot free {}: already freed ({})", address, where);
    if (place.kind == Kind::inside)
        return fail(107000, "cannot free {}: it is {}, and only the start of an allocation can be freed", address,
                    where);
    return fail(107000, "cannot free {}: it is {}", address, where);
}

}  // namespace canopy
