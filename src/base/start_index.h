// SPDX-License-Identifier: Apache-2.0
// StartIndex: maps any granule to the block around it, in time independent of the number of blocks. Part of
// OffsetAllocator. Not thread-safe.
//
// One bit per granule says whether a block starts there; levels of summary bits above it skip empty ranges. Each 64
// bits share half a cache line with the number of the first block in each group of 16. Blocks know their successors, so
// a block is at most 15 steps after the first of its group, and zero steps if blocks are 8 KiB or larger. All of it is
// sparse virtual memory: half a byte per granule, for the pages that are touched.
#pragma once

#include <array>
#include <cstdint>

#include "base/mapping.h"
#include "base/result.h"

namespace canopy {

class StartIndex {
public:
    // Five levels of 64 bits.
    static constexpr std::uint64_t max_granules = std::uint64_t{1} << 30;

    static Result<StartIndex> create(std::uint64_t granules);

    // A block starts at `granule` from now on.
    void insert(std::uint32_t granule, std::uint32_t block) noexcept;
    // Changes the number of the block that starts there.
    void replace(std::uint32_t granule, std::uint32_t block) noexcept;
    // No block starts there any more; `following` is the next block.
    void erase(std::uint32_t granule, std::uint32_t following) noexcept;

    // The block around a granule starts at `start`; it is `block` or a successor. Some block always starts at 0.
    struct Position {
        std::uint32_t block;
        std::uint32_t start;
    };
    [[nodiscard]] Position around(std::uint32_t granule) const noexcept;

private:
    static constexpr std::uint32_t word_bits = 64;
    static constexpr std::uint32_t group_bits = 16;
    static constexpr int summary_count = 4;

    struct alignas(32) Word {
        std::uint64_t starts;
        std::array<std::uint32_t, word_bits / group_bits> first;  // block of each group; undefined if none starts there
    };

    // The bits of a granule's group, and those of them before the granule.
    static std::uint64_t group_mask(std::uint32_t granule) noexcept {
        return std::uint64_t{0xFFFF} << (granule % word_bits / group_bits * group_bits);
    }
    static std::uint64_t mask_in_front(std::uint32_t granule) noexcept {
        return group_mask(granule) & ((std::uint64_t{1} << (granule % word_bits)) - 1);
    }
    [[nodiscard]] std::uint32_t last_start_before_word(std::uint32_t word) const noexcept;

    Mapping memory_;
    Word* words_ = nullptr;
    std::array<std::uint64_t*, summary_count> summaries_{};
};

}  // namespace canopy
