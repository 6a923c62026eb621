// SPDX-License-Identifier: Apache-2.0
// Two-level segregated fit on offsets.
#include "base/offset_allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error_text.h"

namespace canopy {

namespace {

constexpr std::uint32_t log2_of(std::uint32_t value) noexcept {
    return static_cast<std::uint32_t>(std::bit_width(value)) - 1;
}

// Blocks of the request's own class to try before moving to a larger class.
constexpr int own_class_probes = 4;

}  // namespace

Result<OffsetAllocator> OffsetAllocator::create(std::uint64_t capacity) {
    const std::uint64_t granules = capacity / granule;
    if (granules == 0 || capacity > max_capacity)
        return fail(207001, "a heap of {} bytes is not possible: it holds {} to {}", capacity, granule, max_capacity);
    Result<Mapping> table = Mapping::sparse(granules * sizeof(Record));
    if (!table.ok()) return table.status();
    Result<StartIndex> starts = StartIndex::create(granules);
    if (!starts.ok()) return starts.status();

    OffsetAllocator allocator;
    allocator.table_ = std::move(*table);
    allocator.records_ = reinterpret_cast<Record*>(allocator.table_.base());
    allocator.starts_ = std::move(*starts);
    allocator.capacity_ = granules * granule;
    allocator.granules_ = static_cast<std::uint32_t>(granules);
    const Index all = allocator.new_record();
    allocator.records_[all].start = 0;
    allocator.records_[all].size_and_live = allocator.granules_;
    allocator.records_[all].before = allocator.records_[all].after = none;
    allocator.first_ = all;
    allocator.starts_.insert(0, all);
    allocator.link(all);
    return allocator;
}

std::optional<std::uint64_t> OffsetAllocator::allocate(std::uint64_t size, std::uint64_t alignment,
                                                       std::uint64_t tag) noexcept {
    if (size == 0 || size > capacity_) return std::nullopt;
    // Any alignment beyond the capacity allows offset 0 only.
    alignment = std::clamp(alignment, granule, std::bit_ceil(capacity_));
    const auto wanted = static_cast<std::uint32_t>((size + granule - 1) / granule);
    const auto step = static_cast<std::uint32_t>(alignment / granule);
    const Index chosen = choose(wanted, step);
    if (chosen == none) return std::nullopt;
    const auto start = static_cast<std::uint32_t>(round_up(records_[chosen].start, step));
    carve(chosen, wanted, start, tag);
    used_ += wanted * granule;
    peak_ = std::max(peak_, used_);
    ++count_;
    return start * granule;
}

bool OffsetAllocator::allocate_at(std::uint64_t offset, std::uint64_t size, std::uint64_t tag) noexcept {
    if (size == 0 || offset % granule != 0 || offset >= capacity_ || size > capacity_ - offset) return false;
    const Index block = block_around(offset);
    if (is_live(block)) return false;
    const auto start = static_cast<std::uint32_t>(offset / granule);
    const auto wanted = static_cast<std::uint32_t>((size + granule - 1) / granule);
    if (start + wanted > records_[block].start + size_of(block)) return false;
    carve(block, wanted, start, tag);
    used_ += wanted * granule;
    peak_ = std::max(peak_, used_);
    ++count_;
    return true;
}

bool OffsetAllocator::release(std::uint64_t offset) noexcept {
    const Index block = block_at(offset);
    if (block == none || !is_live(block)) return false;
    release_record(block);
    return true;
}

void OffsetAllocator::release_record(Index block) noexcept {
    Record& record = records_[block];
    record.size_and_live &= ~live_bit;
    used_ -= record.size_and_live * granule;
    --count_;

    const bool before_is_free = is_free(record.before);
    const Index after = record.after;
    if (is_free(after)) {
        const SizeClass place = class_of(size_of(after));
        merge_into_following(block);
        if (!before_is_free) {
            relink(after, place);
            return;
        }
        unlink(after, place);
        merge_into_preceding(after);
    } else if (before_is_free) {
        merge_into_preceding(block);
    } else {
        link(block);
    }
}

std::optional<OffsetAllocator::Block> OffsetAllocator::find(std::uint64_t offset) const noexcept {
    if (offset >= capacity_) return std::nullopt;
    const Index block = block_around(offset);
    if (!is_live(block)) return std::nullopt;
    return extent_of(block).block;
}

OffsetAllocator::Extent OffsetAllocator::extent(std::uint64_t offset) const noexcept {
    return extent_of(block_around(offset));
}

OffsetAllocator::Extent OffsetAllocator::extent_of(Index block) const noexcept {
    const Record& record = records_[block];
    const bool live = is_live(block);
    return {{record.start * granule, size_of(block) * granule, live ? record.tag : 0, block}, live};
}

OffsetAllocator::Index OffsetAllocator::block_around(std::uint64_t offset) const noexcept {
    auto [block, start] = starts_.around(static_cast<std::uint32_t>(offset / granule));
    while (records_[block].start != start) block = records_[block].after;
    return block;
}

// The block that starts exactly there, or `none`.
OffsetAllocator::Index OffsetAllocator::block_at(std::uint64_t offset) const noexcept {
    if (offset >= capacity_) return none;
    const Index block = block_around(offset);
    return records_[block].start * granule == offset ? block : none;
}

void OffsetAllocator::set_tag(std::uint64_t offset, std::uint64_t tag) noexcept {
    records_[block_around(offset)].tag = tag;
}

std::uint64_t OffsetAllocator::tag(std::uint64_t offset) const noexcept { return records_[block_around(offset)].tag; }

std::uint64_t OffsetAllocator::largest_free() const noexcept {
    if (row_mask_ == 0) return 0;
    const std::uint32_t row = log2_of(row_mask_);
    std::uint32_t largest = 0;
    for (Index block = heads_[row][log2_of(column_masks_[row])]; block != none; block = records_[block].free.next)
        largest = std::max(largest, size_of(block));
    return largest * granule;
}

OffsetAllocator::SizeClass OffsetAllocator::class_of(std::uint32_t size) noexcept {
    if (size < columns) return {0, size};
    const std::uint32_t magnitude = log2_of(size);
    return {magnitude - column_bits + 1, (size >> (magnitude - column_bits)) & (columns - 1)};
}

// The smallest class-starting size that is at least `size`: every block of that class and later ones can hold `size`.
std::uint32_t OffsetAllocator::size_that_begins_a_class(std::uint64_t size) noexcept {
    if (size < columns) return static_cast<std::uint32_t>(size);
    const std::uint64_t step = std::uint64_t{1} << (log2_of(static_cast<std::uint32_t>(size)) - column_bits);
    return static_cast<std::uint32_t>(round_up(size, step));
}

// The first class from `wanted` on that has free blocks; row `rows` if there is none.
inline OffsetAllocator::SizeClass OffsetAllocator::first_class_from(SizeClass wanted) const noexcept {
    const std::uint32_t same_row = column_masks_[wanted.row] & (~std::uint32_t{0} << wanted.column);
    if (same_row != 0) return {wanted.row, static_cast<std::uint32_t>(std::countr_zero(same_row))};
    const std::uint32_t later_rows = row_mask_ & (~std::uint32_t{1} << wanted.row);
    if (later_rows == 0) return {rows, 0};
    const auto row = static_cast<std::uint32_t>(std::countr_zero(later_rows));
    return {row, static_cast<std::uint32_t>(std::countr_zero(column_masks_[row]))};
}

inline OffsetAllocator::Index OffsetAllocator::choose(std::uint32_t size, std::uint32_t alignment) const noexcept {
    const SizeClass own = class_of(size);
    if ((column_masks_[own.row] >> own.column & 1) != 0) {
        Index block = heads_[own.row][own.column];
        for (int probe = 0; probe < own_class_probes && block != none; ++probe) {
            if (fits(block, size, alignment)) return block;
            block = records_[block].free.next;
        }
    }
    const std::uint64_t enough = std::uint64_t{size} + alignment - 1;
    if (enough <= granules_) {
        const SizeClass sure = first_class_from(class_of(size_that_begins_a_class(enough)));
        if (sure.row < rows) return heads_[sure.row][sure.column];
    }
    return choose_exhaustively(size, alignment);
}

OffsetAllocator::Index OffsetAllocator::choose_exhaustively(std::uint32_t size,
                                                            std::uint32_t alignment) const noexcept {
    SizeClass place = first_class_from(class_of(size));
    while (place.row < rows) {
        for (Index block = heads_[place.row][place.column]; block != none; block = records_[block].free.next)
            if (fits(block, size, alignment)) return block;
        const bool last_column = place.column + 1 == columns;
        if (last_column && place.row + 1 == rows) return none;
        place = first_class_from(last_column ? SizeClass{place.row + 1, 0} : SizeClass{place.row, place.column + 1});
    }
    return none;
}

bool OffsetAllocator::fits(Index block, std::uint32_t size, std::uint32_t alignment) const noexcept {
    const std::uint64_t start = records_[block].start;
    return round_up(start, alignment) + size <= start + size_of(block);
}

OffsetAllocator::Index OffsetAllocator::new_record() noexcept {
    if (unused_ == none) return touched_++;
    return std::exchange(unused_, records_[unused_].after);
}

void OffsetAllocator::drop_record(Index block) noexcept { records_[block].after = std::exchange(unused_, block); }

// Makes [start, start + size) of a free block live; the rest stays free. The part behind it keeps the old record, and
// so its place in the list if its class is unchanged.
void OffsetAllocator::carve(Index block, std::uint32_t size, std::uint32_t start, std::uint64_t tag) noexcept {
    const SizeClass place = class_of(size_of(block));
    if (start > records_[block].start) {
        const Index front = split_front(block, start - records_[block].start);
        link(front);
    }
    Index taken = block;
    if (size < size_of(block)) {
        taken = split_front(block, size);
        relink(block, place);
    } else {
        unlink(block, place);
    }
    records_[taken].size_and_live |= live_bit;
    records_[taken].tag = tag;
}

// Splits the first granules off a block; the new block is not in any list.
OffsetAllocator::Index OffsetAllocator::split_front(Index block, std::uint32_t size) noexcept {
    const Index front = new_record();
    Record& rest = records_[block];
    records_[front].start = rest.start;
    records_[front].size_and_live = size;
    records_[front].before = rest.before;
    records_[front].after = block;
    if (rest.before != none)
        records_[rest.before].after = front;
    else
        first_ = front;
    starts_.replace(rest.start, front);
    rest.before = front;
    rest.start += size;
    rest.size_and_live -= size;
    starts_.insert(rest.start, block);
    return front;
}

// Merges a block that is not in any list into the free block after it.
void OffsetAllocator::merge_into_following(Index block) noexcept {
    const Record& front = records_[block];
    const Index after = front.after;
    Record& rest = records_[after];
    starts_.erase(rest.start, rest.after);
    starts_.replace(front.start, after);
    rest.start = front.start;
    rest.size_and_live += front.size_and_live;
    rest.before = front.before;
    if (rest.before != none)
        records_[rest.before].after = after;
    else
        first_ = after;
    drop_record(block);
}

// Merges a block that is not in any list into the free block before it.
void OffsetAllocator::merge_into_preceding(Index block) noexcept {
    const Record& rear = records_[block];
    const Index before = rear.before;
    Record& rest = records_[before];
    const SizeClass place = class_of(rest.size_and_live);
    starts_.erase(rear.start, rear.after);
    rest.size_and_live += rear.size_and_live;
    rest.after = rear.after;
    if (rest.after != none) records_[rest.after].before = before;
    drop_record(block);
    relink(before, place);
}

void OffsetAllocator::link(Index block) noexcept {
    const SizeClass place = class_of(size_of(block));
    std::uint32_t& mask = column_masks_[place.row];
    const std::uint32_t column = std::uint32_t{1} << place.column;
    Index& head = heads_[place.row][place.column];
    const Index next = (mask & column) != 0 ? head : none;
    records_[block].free = {next, none};
    if (next != none) records_[next].free.previous = block;
    head = block;
    mask |= column;
    row_mask_ |= std::uint32_t{1} << place.row;
}

// `place` is the class the block was linked in.
void OffsetAllocator::unlink(Index block, SizeClass place) noexcept {
    const FreeLinks links = records_[block].free;
    if (links.next != none) records_[links.next].free.previous = links.previous;
    if (links.previous != none) {
        records_[links.previous].free.next = links.next;
        return;
    }
    heads_[place.row][place.column] = links.next;
    if (links.next != none) return;
    std::uint32_t& mask = column_masks_[place.row];
    mask &= ~(std::uint32_t{1} << place.column);
    if (mask == 0) row_mask_ &= ~(std::uint32_t{1} << place.row);
}

// For a free block whose size has changed.
void OffsetAllocator::relink(Index block, SizeClass old_place) noexcept {
    if (class_of(size_of(block)) == old_place) return;
    unlink(block, old_place);
    link(block);
}

}  // namespace canopy
