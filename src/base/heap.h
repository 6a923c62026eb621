// SPDX-License-Identifier: Apache-2.0
// Heap: the memory of one device. An address range reserved once, backed by one memory file so that other processes can
// map parts of it, and divided by an OffsetAllocator. Addresses above the highest allocation so far (rounded up to a
// step) are inaccessible and fault. Any thread; calls hold a spin lock for a few dozen instructions.
//
// In checking mode every allocation has its own pages, ends at a guard page and is framed by known bytes. Freed
// allocations become inaccessible and wait in a queue before their addresses are reused.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/mapping.h"
#include "base/memory_range.h"
#include "base/offset_allocator.h"
#include "base/result.h"
#include "base/spin_lock.h"

namespace canopy {

struct HeapOptions {
    std::string name;            // of the memory file, as shown in /proc
    std::uint64_t capacity = 0;  // bytes
    bool checking = false;
    // Freeing a block of 64 MiB or more returns its pages to the OS once more than this is unused. Faulting them back
    // in is expensive: writing 256 MiB takes 10 ms with pages present and 240 ms without (heap_bench, BM_LargeBlock*).
    std::uint64_t kept_free = std::uint64_t{1} << 30;
    std::uintptr_t place = 0;  // where its addresses begin, if that is free; 0: anywhere
};

// Damage found next to an allocation.
struct CheckFinding {
    void* base = nullptr;
    std::size_t size = 0;
    std::int64_t offset = 0;  // of the first damaged byte, from the base; negative: in front of it
    bool freed = false;       // the allocation was freed since; the damage was found then

    // "memory written 1 byte past the end of the 100-byte allocation at 0x..."
    [[nodiscard]] std::string describe() const;
};

class Heap {
public:
    // Every returned address is a multiple of this, and of 512 outside checking mode.
    static constexpr std::size_t alignment = 64;

    static Result<std::unique_ptr<Heap>> create(const HeapOptions& options);
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    ~Heap();

    // 107000 for size 0, 207001 if there is no room. `flags` (21 bits) are stored with the allocation.
    Result<void*> allocate(std::size_t size, std::uint32_t flags) noexcept;
    // The allocation that begins at `address`, as another heap of the same size, mode and place made it. 207001 if the
    // addresses are not free, 107000 if no heap like this one has such an allocation.
    Status allocate_at(void* address, std::size_t size, std::uint32_t flags) noexcept;
    // 107000 unless `address` was returned by allocate and is still live. The memory may be reused immediately.
    Status release(void* address) noexcept;

    // The live allocation that contains an address, with its requested size.
    [[nodiscard]] std::optional<MemoryRange> find(const void* address) const noexcept;
    // The flags of the live allocation that contains an address.
    [[nodiscard]] std::optional<std::uint32_t> flags(const void* address) const noexcept;
    // The first live allocation that begins at or after an address of the range, and whether it was live at the last
    // mark_all.
    struct MarkedRange {
        MemoryRange range;
        bool marked = false;
    };
    [[nodiscard]] std::optional<MarkedRange> next(const void* from) const noexcept;
    void mark_all() noexcept;
    // The address range of all allocations.
    [[nodiscard]] MemoryRange range() const noexcept { return {memory_.base(), memory_.size()}; }
    [[nodiscard]] bool contains(const void* address) const noexcept { return memory_.contains(address); }
    [[nodiscard]] MemoryUsage usage() const noexcept;

    // Reserves part of the capacity for memory that lives elsewhere; false if that much is not free.
    bool claim(std::uint64_t bytes) noexcept;
    void unclaim(std::uint64_t bytes) noexcept;

    // The memory file, and the file offset of an address in the range.
    [[nodiscard]] int file() const noexcept { return file_.descriptor(); }
    [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - memory_.base());
    }
    // Bytes of pages that are present, in use or not.
    [[nodiscard]] std::uint64_t resident() const noexcept { return file_.resident(); }
    // Returns the pages of free memory to the OS.
    void trim() noexcept;
    // Backs a large live allocation with huge pages if the machine has enough free memory, which also makes its pages
    // present. Pages the system refuses stay as they are.
    void prefer_huge_pages(void* address, std::size_t size) noexcept;

    [[nodiscard]] bool checking() const noexcept { return checking_; }
    // Checks the known bytes around every live allocation and around those freed since the last call. Describes the
    // first damage found and repairs it, so that the next call finds the next. Does nothing outside checking mode.
    [[nodiscard]] std::optional<CheckFinding> check();
    // Where an address lies, in words that complete "address 0x... is ...". Takes the lock and allocates memory: not
    // for signal handlers.
    [[nodiscard]] std::string describe(const void* address) const;

private:
    // Contents of the allocator's tag.
    enum class State : std::uint8_t { live, in_transit, quarantined };
    struct Tag {
        std::uint64_t size;
        std::uint32_t flags;
        State state;
        bool marked = false;
    };
    struct Freed {
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
    };
    enum class Kind { foreign, unallocated, freed_somewhere, inside, past_end, before_start };
    struct Place {
        Kind kind = Kind::foreign;
        bool freed = false;
        std::uint64_t base = 0;  // offset of the allocation
        std::uint64_t size = 0;
        std::uint64_t distance = 0;  // bytes from its start, past its end or before its start
    };

    Heap(const HeapOptions& options, OffsetAllocator allocator, Mapping memory, MemoryFile file);
    static std::uint64_t encode(Tag tag) noexcept;
    static Tag decode(std::uint64_t tag) noexcept;

    [[nodiscard]] std::optional<std::uint64_t> take(std::size_t size, std::uint64_t block_size, Tag tag) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> take_at(std::uint64_t offset, std::size_t size, std::uint64_t block_size,
                                                       Tag tag) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> take_block(std::uint64_t size, Tag tag) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] std::optional<std::uint64_t> committed(std::optional<std::uint64_t> offset,
                                                         std::uint64_t size) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] bool has_room(std::uint64_t whole) const noexcept CANOPY_REQUIRES(lock_);
    void account(std::uint64_t offset, std::uint64_t whole, std::uint64_t block_size) noexcept CANOPY_REQUIRES(lock_);
    void forget(std::uint64_t base, std::uint64_t size) noexcept CANOPY_REQUIRES(lock_);
    bool leave_quarantine() noexcept CANOPY_REQUIRES(lock_);
    bool commit(std::uint64_t end) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] Status no_room(std::size_t size) const;

    // Offset of the allocation inside a block; equals the block's offset outside checking mode.
    [[nodiscard]] std::uint64_t base_in(const OffsetAllocator::Block& block, std::uint64_t size) const noexcept;
    [[nodiscard]] std::uint64_t guarded_pages(std::uint64_t size) const noexcept { return round_up(size, page_size()); }
    [[nodiscard]] std::optional<OffsetAllocator::Block> live_block(const void* address) const noexcept
        CANOPY_REQUIRES(lock_);
    void release_large(const OffsetAllocator::Block& block) noexcept;
    void give_back(std::uint64_t offset, std::uint64_t size) noexcept;

    Result<void*> allocate_guarded(std::size_t size, std::uint32_t flags) noexcept;
    Result<void*> finish_guarded(std::optional<std::uint64_t> offset, std::size_t size, std::uint32_t flags) noexcept;
    static Status count_guarded() noexcept;
    void release_guarded(const OffsetAllocator::Block& block) noexcept;
    void fill_frame(const OffsetAllocator::Block& block, std::uint64_t size) noexcept;
    [[nodiscard]] std::optional<CheckFinding> damage(const OffsetAllocator::Block& block) const noexcept;

    [[nodiscard]] Place locate(const void* address) const noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] Place locate_in_block(const OffsetAllocator::Block& block, std::uint64_t offset) const noexcept;
    [[nodiscard]] Place locate_in_gap(const OffsetAllocator::Block& gap, std::uint64_t offset) const noexcept
        CANOPY_REQUIRES(lock_);
    [[nodiscard]] std::string words(const Place& place) const;
    [[nodiscard]] Status refuse_release(const void* address) const;

    static constexpr std::size_t remembered = 256;

    const std::uint64_t capacity_;
    const bool checking_;
    const std::uint64_t kept_free_;
    const std::uint64_t quarantine_limit_;  // bytes of addresses
    MemoryFile file_;
    Mapping memory_;
    std::unique_ptr<std::atomic<bool>[]> huge_;  // per huge page of the range: requested and not returned since

    mutable SpinLock lock_;
    OffsetAllocator allocator_ CANOPY_GUARDED_BY(lock_);
    std::uint64_t used_ CANOPY_GUARDED_BY(lock_) = 0;  // requested bytes in whole granules
    std::uint64_t claimed_ CANOPY_GUARDED_BY(lock_) = 0;
    std::uint64_t peak_ CANOPY_GUARDED_BY(lock_) = 0;
    std::uint64_t allocations_ CANOPY_GUARDED_BY(lock_) = 0;
    std::uint64_t committed_ CANOPY_GUARDED_BY(lock_) = 0;   // addresses below are accessible; not in checking mode
    std::uint64_t handed_out_ CANOPY_GUARDED_BY(lock_) = 0;  // highest end of any allocation so far
    std::array<Freed, remembered> freed_ CANOPY_GUARDED_BY(lock_){};  // the most recent ones; a ring
    std::size_t freed_count_ CANOPY_GUARDED_BY(lock_) = 0;
    std::deque<std::uint64_t> quarantine_ CANOPY_GUARDED_BY(lock_);
    std::uint64_t quarantined_ CANOPY_GUARDED_BY(lock_) = 0;  // bytes of addresses
    std::deque<CheckFinding> findings_ CANOPY_GUARDED_BY(lock_);
};

}  // namespace canopy
