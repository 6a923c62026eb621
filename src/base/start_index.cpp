// SPDX-License-Identifier: Apache-2.0
// StartIndex: the bit hierarchy and the first block of each group.
#include "base/start_index.h"

#include <bit>

namespace canopy {

namespace {

constexpr std::uint64_t bit(std::uint32_t index) noexcept { return std::uint64_t{1} << (index % 64); }

constexpr std::uint32_t highest(std::uint64_t word) noexcept {
    return 63 - static_cast<std::uint32_t>(std::countl_zero(word));
}

}  // namespace

Result<StartIndex> StartIndex::create(std::uint64_t granules) {
    const auto words_for = [](std::uint64_t bits) { return (bits + word_bits - 1) / word_bits; };
    const std::uint64_t words = words_for(granules);
    std::array<std::uint64_t, summary_count> sizes{};
    std::uint64_t total = words * sizeof(Word);
    std::uint64_t below = words;
    for (std::uint64_t& size : sizes) {
        size = below = words_for(below);
        total += size * sizeof(std::uint64_t);
    }
    Result<Mapping> memory = Mapping::sparse(total);
    if (!memory.ok()) return memory.status();

    StartIndex index;
    index.memory_ = std::move(*memory);
    index.words_ = reinterpret_cast<Word*>(index.memory_.base());
    auto* next = reinterpret_cast<std::uint64_t*>(index.words_ + words);
    for (int level = 0; level < summary_count; ++level) {
        index.summaries_[level] = next;
        next += sizes[level];
    }
    return index;
}

void StartIndex::insert(std::uint32_t granule, std::uint32_t block) noexcept {
    Word& word = words_[granule / word_bits];
    const bool was_empty = word.starts == 0;
    word.starts |= bit(granule);
    replace(granule, block);
    std::uint32_t index = granule / word_bits;
    for (int level = 0; was_empty && level < summary_count; ++level, index /= word_bits) {
        std::uint64_t& summary = summaries_[level][index / word_bits];
        const bool known = summary != 0;
        summary |= bit(index);
        if (known) return;
    }
}

void StartIndex::replace(std::uint32_t granule, std::uint32_t block) noexcept {
    Word& word = words_[granule / word_bits];
    if ((word.starts & mask_in_front(granule)) == 0) word.first[granule % word_bits / group_bits] = block;
}

void StartIndex::erase(std::uint32_t granule, std::uint32_t following) noexcept {
    Word& word = words_[granule / word_bits];
    replace(granule, following);
    word.starts &= ~bit(granule);
    std::uint32_t index = granule / word_bits;
    for (int level = 0; word.starts == 0 && level < summary_count; ++level, index /= word_bits) {
        std::uint64_t& summary = summaries_[level][index / word_bits];
        summary &= ~bit(index);
        if (summary != 0) return;
    }
}

StartIndex::Position StartIndex::around(std::uint32_t granule) const noexcept {
    const std::uint64_t up_to = bit(granule) | (bit(granule) - 1);
    const std::uint64_t here = words_[granule / word_bits].starts & up_to;
    const std::uint32_t start =
        here != 0 ? granule / word_bits * word_bits + highest(here) : last_start_before_word(granule / word_bits);
    return {words_[start / word_bits].first[start % word_bits / group_bits], start};
}

// Climbs the summaries until one has a bit before the position, then descends along the last set bits.
std::uint32_t StartIndex::last_start_before_word(std::uint32_t word) const noexcept {
    std::uint32_t index = word;
    int level = 0;
    std::uint64_t found = summaries_[0][index / word_bits] & (bit(index) - 1);
    while (found == 0) {
        index /= word_bits;
        ++level;
        found = summaries_[level][index / word_bits] & (bit(index) - 1);
    }
    index = index / word_bits * word_bits + highest(found);
    while (level-- > 0) index = index * word_bits + highest(summaries_[level][index]);
    return index * word_bits + highest(words_[index].starts);
}

}  // namespace canopy
