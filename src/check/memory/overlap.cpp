// SPDX-License-Identifier: Apache-2.0
#include "check/memory/overlap.h"

#include <algorithm>
#include <cstdint>

#include "check/model/walk.h"

namespace canopy::check {

namespace {

constexpr std::uint64_t repeat_bytes = 256;
constexpr std::uint64_t most_repeats = 255;

constexpr const char* inside = "inside one repeat, part of what is written is also read";
constexpr const char* later = "a repeat reads what an earlier one has written";

bool without_gaps(const CanopyCheckAccess& access) {
    return access.lanes == nullptr && (access.pieces == 1 || access.step == access.bytes);
}

bool one_piece(const CanopyCheckAccess& access) {
    return without_gaps(access) && (access.repeats == 1 || access.repeat_step == access.bytes * access.pieces);
}

// What an operand touches in repeat `index` of `count`.
Extent repeat_of(const CanopyCheckAccess& access, std::uint64_t index, std::uint64_t count) {
    const Extent all = extent_of(access);
    if (access.repeats == count && count > 1) {
        CanopyCheckAccess one = access;
        one.repeats = 1;
        const Extent first = extent_of(one);
        return {first.begin + index * access.repeat_step, first.end + index * access.repeat_step};
    }
    const std::uint64_t bytes = all.end - all.begin;
    return {all.begin + bytes * index / count, all.begin + bytes * (index + 1) / count};
}

bool share(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

const char* wrong_overlap(const CanopyCheckAccess& written, const CanopyCheckAccess& read) {
    const Extent to = extent_of(written), from = extent_of(read);
    if (!share(to, from)) return nullptr;
    const bool same_steps = written.step == read.step && written.repeat_step == read.repeat_step;
    if (to.begin == from.begin && to.end == from.end && (same_steps || (one_piece(written) && one_piece(read))))
        return nullptr;
    // Operands with gaps may interleave; those with other numbers of repeats do not belong together.
    const bool divisible = one_piece(written) && one_piece(read);
    if (!divisible && (!without_gaps(written) || !without_gaps(read) || written.repeats != read.repeats))
        return nullptr;
    const std::uint64_t widest = std::max(to.end - to.begin, from.end - from.begin);
    std::uint64_t count = divisible ? (widest + repeat_bytes - 1) / repeat_bytes : written.repeats;
    count = std::min(count, most_repeats);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Extent now = repeat_of(written, i, count), also = repeat_of(read, i, count);
        if (now.begin != also.begin && share(now, also)) return inside;
        if (i + 1 < count && share(now, repeat_of(read, i + 1, count))) return later;
    }
    return nullptr;
}

}  // namespace canopy::check
