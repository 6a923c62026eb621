// SPDX-License-Identifier: Apache-2.0
// OffsetAllocator: hands out and takes back parts of [0, capacity) in constant time, however many parts are live. It
// only computes offsets and never touches the memory. Used for device memory heaps and for the physical memory of the
// software NPU. Not thread-safe: its owner locks.
//
// Two-level segregated fit: free blocks are kept in lists by size class, and two levels of bit masks find the first
// non-empty class. Blocks, live and free, are records in a dense table, chained in order of offset; a StartIndex maps
// any offset to its block. The tables are sparse virtual memory and cost at most 32 bytes per block and half a byte per
// granule.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/mapping.h"
#include "base/result.h"
#include "base/start_index.h"

namespace canopy {

class OffsetAllocator {
public:
    static constexpr std::uint64_t granule = 512;
    static constexpr std::uint64_t max_capacity = StartIndex::max_granules * granule;  // 512 GiB

    struct Block {
        std::uint64_t offset = 0;
        std::uint64_t size = 0;  // in whole granules
        std::uint64_t tag = 0;
        std::uint32_t record = 0;  // the allocator's own number for it
    };
    // A block, live or free: the extents of an allocator cover [0, capacity) without gaps.
    struct Extent {
        Block block;
        bool live = false;
    };

    // `capacity` is rounded down to whole granules; 207001 if it is zero, too large or the tables cannot be mapped.
    static Result<OffsetAllocator> create(std::uint64_t capacity);

    // Prefers the most recently freed block of about that size. Fails only if no free block can hold the request. A
    // failure, or a fit found only among blocks of nearly the requested size when nothing larger is free, can take time
    // proportional to the number of free blocks of these sizes. `alignment` is a power of two. `tag` is a number for
    // the owner's use.
    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment = granule,
                                                        std::uint64_t tag = 0) noexcept;
    // Takes exactly [offset, offset + size), `offset` in whole granules; false unless all of it is free.
    [[nodiscard]] bool allocate_at(std::uint64_t offset, std::uint64_t size, std::uint64_t tag) noexcept;
    // Returns false and changes nothing unless `offset` is exactly the start of a live block.
    bool release(std::uint64_t offset) noexcept;
    // `block` is a live block returned by this allocator.
    void release(const Block& block) noexcept { release_record(block.record); }

    // The live block that contains an offset.
    [[nodiscard]] std::optional<Block> find(std::uint64_t offset) const noexcept;
    // Live or free; offset < capacity.
    [[nodiscard]] Extent extent(std::uint64_t offset) const noexcept;
    // `offset` is the start of a live block.
    void set_tag(std::uint64_t offset, std::uint64_t tag) noexcept;
    [[nodiscard]] std::uint64_t tag(std::uint64_t offset) const noexcept;

    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
    [[nodiscard]] std::uint64_t free() const noexcept { return capacity_ - used_; }
    [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // Takes time proportional to the number of free blocks in the largest class.
    [[nodiscard]] std::uint64_t largest_free() const noexcept;

    // Calls visit(const Block&) for every live block, by rising offset. `visit` may set tags but change nothing else.
    template <class Visit>
    void for_each_live(Visit&& visit) const {
        for (Index block = first_; block != none; block = records_[block].after)
            if (is_live(block)) visit(extent_of(block).block);
    }

private:
    using Index = std::uint32_t;  // of a block's record
    static constexpr Index none = ~Index{0};
    static constexpr std::uint32_t live_bit = std::uint32_t{1} << 31;
    static constexpr std::uint32_t column_bits = 5;
    static constexpr std::uint32_t columns = 1u << column_bits;
    static constexpr std::uint32_t rows = 27;  // sizes up to 2^30 granules

    struct FreeLinks {
        Index next;
        Index previous;
    };
    struct alignas(32) Record {
        std::uint32_t start;          // in granules
        std::uint32_t size_and_live;  // in granules
        Index before;                 // neighbours by offset
        Index after;
        union {
            FreeLinks free;  // list of its size class
            std::uint64_t tag;
        };
    };

    // The list that holds free blocks of some size. Row 0 holds sizes below 32 granules, one per column; every further
    // row covers the sizes between two powers of two, divided into 32 columns.
    struct SizeClass {
        std::uint32_t row;
        std::uint32_t column;
        bool operator==(const SizeClass&) const = default;
    };

    OffsetAllocator() = default;
    [[nodiscard]] static SizeClass class_of(std::uint32_t size) noexcept;
    [[nodiscard]] static std::uint32_t size_that_begins_a_class(std::uint64_t size) noexcept;
    [[nodiscard]] SizeClass first_class_from(SizeClass wanted) const noexcept;

    [[nodiscard]] Index choose(std::uint32_t size, std::uint32_t alignment) const noexcept;
    [[nodiscard]] Index choose_exhaustively(std::uint32_t size, std::uint32_t alignment) const noexcept;
    [[nodiscard]] bool fits(Index block, std::uint32_t size, std::uint32_t alignment) const noexcept;
    [[nodiscard]] Index block_around(std::uint64_t offset) const noexcept;
    [[nodiscard]] Index block_at(std::uint64_t offset) const noexcept;
    [[nodiscard]] std::uint32_t size_of(Index block) const noexcept {
        return records_[block].size_and_live & ~live_bit;
    }
    [[nodiscard]] bool is_live(Index block) const noexcept { return (records_[block].size_and_live & live_bit) != 0; }
    [[nodiscard]] bool is_free(Index block) const noexcept { return block != none && !is_live(block); }
    [[nodiscard]] Extent extent_of(Index block) const noexcept;

    void release_record(Index block) noexcept;
    Index new_record() noexcept;
    void drop_record(Index block) noexcept;
    void carve(Index block, std::uint32_t size, std::uint32_t start, std::uint64_t tag) noexcept;
    Index split_front(Index block, std::uint32_t size) noexcept;
    void merge_into_following(Index block) noexcept;
    void merge_into_preceding(Index block) noexcept;
    void link(Index block) noexcept;
    void unlink(Index block, SizeClass place) noexcept;
    void relink(Index block, SizeClass old_place) noexcept;

    Mapping table_;
    Record* records_ = nullptr;
    Index first_ = 0;
    Index unused_ = none;        // free records, chained by `after`
    std::uint32_t touched_ = 0;  // records ever used
    StartIndex starts_;
    std::uint64_t capacity_ = 0;
    std::uint32_t granules_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t peak_ = 0;
    std::uint64_t count_ = 0;
    std::uint32_t row_mask_ = 0;                            // rows with any free block
    std::array<std::uint32_t, rows> column_masks_{};        // columns with any, by row
    std::array<std::array<Index, columns>, rows> heads_{};  // first free block; valid only if the mask bit is set
};

}  // namespace canopy
