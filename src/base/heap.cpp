// SPDX-License-Identifier: Apache-2.0
// Heap: allocation, release and pages. Checking mode and the description of addresses are in heap_checking.cpp.
#include "base/heap.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/error_text.h"

namespace canopy {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// Access is granted in steps: one mprotect (about 1 us) per 64 MiB of growth.
constexpr std::uint64_t commit_step = 64 * mebibyte;
constexpr std::uint64_t huge_page = 2 * mebibyte;

// Allocations that get huge pages up front. For 256 MiB this took 27 ms and the first write to all of it 15 ms; with
// small pages the first write alone took 307 ms.
constexpr std::uint64_t huge_from = 4 * mebibyte, huge_up_to = 1024 * mebibyte;
constexpr int collapse_pages = 25;  // MADV_COLLAPSE, missing from the headers of older systems

// Releasing a block of this size checks for unused pages: asking the system costs less than 1 us.
constexpr std::uint64_t large_block = 64 * mebibyte;

// Pages that trim returns per lock hold: well below a millisecond.
constexpr std::uint64_t trim_step = 8 * mebibyte;

// Addresses reserved per byte of capacity in checking mode: guard pages and quarantine need room.
constexpr std::uint64_t checking_factor = 4;

constexpr int size_bits = 40;
constexpr int state_bits = 2;
constexpr std::uint64_t mark_bit = std::uint64_t{1} << 63;

std::uint64_t address_span(const HeapOptions& options) noexcept {
    if (!options.checking) return options.capacity;
    return std::min(OffsetAllocator::max_capacity, options.capacity * checking_factor + 1024 * mebibyte);
}

}  // namespace

Result<std::unique_ptr<Heap>> Heap::create(const HeapOptions& options) {
    if (options.capacity < page_size() || options.capacity > OffsetAllocator::max_capacity)
        return fail(207001, "a heap of {} bytes is not possible: it holds {} to {}", options.capacity, page_size(),
                    OffsetAllocator::max_capacity);
    const std::uint64_t span = round_up(address_span(options), page_size());
    Result<OffsetAllocator> allocator = OffsetAllocator::create(span);
    if (!allocator.ok()) return allocator.status();
    Result<Mapping> memory = Mapping::reserve(span, huge_page, options.place);
    if (!memory.ok()) return memory.status();
    Result<MemoryFile> file = MemoryFile::create(options.name, span);
    if (!file.ok()) return file.status();
    if (!file->map(*memory, 0, span, 0, Access::none))
        return fail(207001, "cannot map {} bytes of device memory", span);
    return std::unique_ptr<Heap>(new Heap(options, std::move(*allocator), std::move(*memory), std::move(*file)));
}

Heap::Heap(const HeapOptions& options, OffsetAllocator allocator, Mapping memory, MemoryFile file)
    : capacity_(options.capacity),
      checking_(options.checking),
      kept_free_(options.kept_free),
      quarantine_limit_(memory.size() / 4),
      file_(std::move(file)),
      memory_(std::move(memory)),
      huge_(new (std::nothrow) std::atomic<bool>[memory_.size() / huge_page + 1] {}),
      allocator_(std::move(allocator)) {}

std::uint64_t Heap::encode(Tag tag) noexcept {
    return tag.size | static_cast<std::uint64_t>(tag.state) << size_bits |
           static_cast<std::uint64_t>(tag.flags) << (size_bits + state_bits) | (tag.marked ? mark_bit : 0);
}

Heap::Tag Heap::decode(std::uint64_t tag) noexcept {
    return {tag & ((std::uint64_t{1} << size_bits) - 1),
            static_cast<std::uint32_t>((tag & ~mark_bit) >> (size_bits + state_bits)),
            static_cast<State>(tag >> size_bits & ((1u << state_bits) - 1)), (tag & mark_bit) != 0};
}

Result<void*> Heap::allocate(std::size_t size, std::uint32_t flags) noexcept {
    if (size == 0) return fail(107000, "an allocation of 0 bytes is not possible");
    if (checking_) return allocate_guarded(size, flags);
    const auto offset = take(size, size, {size, flags, State::live});
    if (!offset) return no_room(size);
    return memory_.base() + *offset;
}

// Finds a block of `block_size` bytes and accounts for `size`.
std::optional<std::uint64_t> Heap::take(std::size_t size, std::uint64_t block_size, Tag tag) noexcept {
    if (size > capacity_) return std::nullopt;
    const std::uint64_t whole = round_up(size, OffsetAllocator::granule);
    SpinGuard guard(lock_);
    if (!has_room(whole)) return std::nullopt;
    const auto offset = take_block(block_size, tag);
    if (offset) account(*offset, whole, block_size);
    return offset;
}

bool Heap::has_room(std::uint64_t whole) const noexcept {
    return used_ + claimed_ + whole <= round_up(capacity_, OffsetAllocator::granule);
}

void Heap::account(std::uint64_t offset, std::uint64_t whole, std::uint64_t block_size) noexcept {
    used_ += whole;
    peak_ = std::max(peak_, used_ + claimed_);
    handed_out_ = std::max(handed_out_, offset + round_up(block_size, OffsetAllocator::granule));
    ++allocations_;
}

// The same for a block that must begin at `offset`.
std::optional<std::uint64_t> Heap::take_at(std::uint64_t offset, std::size_t size, std::uint64_t block_size,
                                           Tag tag) noexcept {
    if (size > capacity_) return std::nullopt;
    const std::uint64_t whole = round_up(size, OffsetAllocator::granule);
    SpinGuard guard(lock_);
    if (!has_room(whole) || !allocator_.allocate_at(offset, block_size, encode(tag))) return std::nullopt;
    const auto taken = committed(offset, block_size);
    if (taken) account(offset, whole, block_size);
    return taken;
}

Status Heap::allocate_at(void* address, std::size_t size, std::uint32_t flags) noexcept {
    const std::uint64_t place = offset_of(address);
    if (size == 0 || size > capacity_ || place >= memory_.size())
        return fail(107000, "no heap like this one has an allocation of {} bytes at {}", size, as_address(address));
    const std::uint64_t offset = checking_ ? place / page_size() * page_size() : place;
    if (offset % OffsetAllocator::granule != 0 || base_in({offset, 0, 0, 0}, size) != place)
        return fail(107000, "no heap like this one has an allocation of {} bytes at {}", size, as_address(address));
    if (checking_) {
        CANOPY_TRY(count_guarded());
        return finish_guarded(
                   take_at(offset, size, guarded_pages(size) + page_size(), {size, flags, State::in_transit}), size,
                   flags)
            .status();
    }
    if (!take_at(offset, size, size, {size, flags, State::live})) return no_room(size);
    return {};
}

std::optional<std::uint64_t> Heap::take_block(std::uint64_t size, Tag tag) noexcept {
    auto offset = allocator_.allocate(size, OffsetAllocator::granule, encode(tag));
    while (!offset && leave_quarantine()) offset = allocator_.allocate(size, OffsetAllocator::granule, encode(tag));
    return committed(offset, size);
}

// Makes the block accessible, or gives it back.
std::optional<std::uint64_t> Heap::committed(std::optional<std::uint64_t> offset, std::uint64_t size) noexcept {
    if (!offset || checking_ || *offset + size <= committed_ || commit(*offset + size)) return offset;
    allocator_.release(*offset);
    return std::nullopt;
}

bool Heap::commit(std::uint64_t end) noexcept {
    const std::uint64_t mark = std::min<std::uint64_t>(round_up(end, commit_step), memory_.size());
    if (!memory_.protect(committed_, mark - committed_, Access::read_write)) return false;
    committed_ = mark;
    return true;
}

Status Heap::no_room(std::size_t size) const {
    std::uint64_t free = 0;
    std::uint64_t largest = 0;
    {
        SpinGuard guard(lock_);
        free = capacity_ - std::min(capacity_, used_ + claimed_);
        largest = std::min(free, allocator_.largest_free());
    }
    return fail(207001, "no room for {} bytes of device memory: {} of {} bytes are free, {} of them in one piece", size,
                free, capacity_, largest);
}

Status Heap::release(void* address) noexcept {
    std::optional<OffsetAllocator::Block> slow;
    {
        SpinGuard guard(lock_);
        const auto block = live_block(address);
        if (block) {
            Tag tag = decode(block->tag);
            if (memory_.base() + base_in(*block, tag.size) == address) {
                if (!checking_ && block->size < large_block) {
                    allocator_.release(*block);
                    forget(block->offset, tag.size);
                    return {};
                }
                tag.state = State::in_transit;
                allocator_.set_tag(block->offset, encode(tag));
                slow = block;
            }
        }
    }
    if (!slow) return refuse_release(address);
    if (checking_)
        release_guarded(*slow);
    else
        release_large(*slow);
    return {};
}

// Updates the accounting for a freed allocation.
void Heap::forget(std::uint64_t base, std::uint64_t size) noexcept {
    used_ -= round_up(size, OffsetAllocator::granule);
    --allocations_;
    freed_[freed_count_++ % remembered] = {base, size};
}

// The block is in transit: no other thread can get it until it is back in the allocator, so no lock is needed.
void Heap::release_large(const OffsetAllocator::Block& block) noexcept {
    std::uint64_t used = 0;
    {
        SpinGuard guard(lock_);
        used = used_ - block.size;
    }
    if (file_.resident() > used + kept_free_) give_back(block.offset, block.size);
    SpinGuard guard(lock_);
    allocator_.release(block.offset);
    forget(block.offset, decode(block.tag).size);
}

void Heap::give_back(std::uint64_t offset, std::uint64_t size) noexcept {
    if (huge_)
        for (std::uint64_t page = offset / huge_page; page * huge_page < offset + size; ++page)
            huge_[page].store(false, std::memory_order_relaxed);
    file_.discard(offset, size);
}

// Touches each huge page first: the system only collapses a range in which at least one page is present.
void Heap::prefer_huge_pages(void* address, std::size_t size) noexcept {
    if (checking_ || !huge_ || size < huge_from || size > huge_up_to) return;
    const std::uint64_t offset = offset_of(address);
    const std::uint64_t first = (offset + huge_page - 1) / huge_page, end = (offset + size) / huge_page;
    std::uint64_t missing = 0;
    for (std::uint64_t page = first; page < end; ++page) missing += !huge_[page].load(std::memory_order_relaxed);
    if (missing == 0) return;
    struct sysinfo system {};
    if (sysinfo(&system) != 0 || static_cast<std::uint64_t>(system.freeram) * system.mem_unit < 4 * size) return;
    for (std::uint64_t page = first; page < end; ++page) {
        if (huge_[page].exchange(true, std::memory_order_relaxed)) continue;
        std::byte* const base = memory_.base() + page * huge_page;
        *reinterpret_cast<volatile std::byte*>(base) = std::byte{0};
        if (madvise(base, huge_page, collapse_pages) != 0 && errno == EINVAL) return;  // not supported here
    }
}

// The block of the live allocation that contains `address`.
std::optional<OffsetAllocator::Block> Heap::live_block(const void* address) const noexcept {
    if (!memory_.contains(address)) return std::nullopt;
    const std::uint64_t offset = offset_of(address);
    const auto block = allocator_.find(offset);
    if (!block) return std::nullopt;
    const Tag tag = decode(block->tag);
    if (tag.state != State::live || offset - base_in(*block, tag.size) >= tag.size) return std::nullopt;
    return block;
}

std::uint64_t Heap::base_in(const OffsetAllocator::Block& block, std::uint64_t size) const noexcept {
    return checking_ ? block.offset + guarded_pages(size) - round_up(size, alignment) : block.offset;
}

std::optional<MemoryRange> Heap::find(const void* address) const noexcept {
    SpinGuard guard(lock_);
    const auto block = live_block(address);
    if (!block) return std::nullopt;
    const std::uint64_t size = decode(block->tag).size;
    return MemoryRange{memory_.base() + base_in(*block, size), size};
}

std::optional<std::uint32_t> Heap::flags(const void* address) const noexcept {
    SpinGuard guard(lock_);
    const auto block = live_block(address);
    if (!block) return std::nullopt;
    return decode(block->tag).flags;
}

std::optional<Heap::MarkedRange> Heap::next(const void* from) const noexcept {
    SpinGuard guard(lock_);
    std::uint64_t offset = offset_of(from);
    while (offset < handed_out_) {
        const OffsetAllocator::Extent extent = allocator_.extent(offset);
        const OffsetAllocator::Block& block = extent.block;
        offset = block.offset + block.size;
        if (!extent.live) continue;
        const Tag tag = decode(block.tag);
        std::byte* const base = memory_.base() + base_in(block, tag.size);
        if (tag.state == State::live && base >= from) return MarkedRange{{base, tag.size}, tag.marked};
    }
    return std::nullopt;
}

void Heap::mark_all() noexcept {
    SpinGuard guard(lock_);
    allocator_.for_each_live([&](const OffsetAllocator::Block& block) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        Tag tag = decode(block.tag);
        if (tag.state != State::live) return;
        tag.marked = true;
        allocator_.set_tag(block.offset, encode(tag));
    });
}

MemoryUsage Heap::usage() const noexcept {
    SpinGuard guard(lock_);
    return {capacity_, capacity_ - std::min(capacity_, used_ + claimed_), std::min(capacity_, peak_), allocations_};
}

bool Heap::claim(std::uint64_t bytes) noexcept {
    SpinGuard guard(lock_);
    if (bytes > capacity_ - std::min(capacity_, used_ + claimed_)) return false;
    claimed_ += bytes;
    peak_ = std::max(peak_, used_ + claimed_);
    return true;
}

void Heap::unclaim(std::uint64_t bytes) noexcept {
    SpinGuard guard(lock_);
    claimed_ -= bytes;
}

void Heap::trim() noexcept {
    for (std::uint64_t next = 0;;) {
        SpinGuard guard(lock_);
        if (next >= handed_out_) return;
        const OffsetAllocator::Extent extent = allocator_.extent(next);
        std::uint64_t end = std::min(handed_out_, extent.block.offset + extent.block.size);
        if (!extent.live) {
            end = std::min(end, round_down(next, page_size()) + trim_step);
            give_back(next, end - next);
        }
        next = end;
    }
}

}  // namespace canopy
