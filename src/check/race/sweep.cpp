// SPDX-License-Identifier: Apache-2.0
#include "check/race/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "check/model/wording.h"

namespace canopy::check {

namespace {

// Pairs that overlap in their extents; a launch with more is compared no further.
constexpr std::uint64_t most_pairs = 50'000'000;

struct Entry {
    std::uint64_t begin = 0, end = 0;
    const Stretches* core = nullptr;
    const Stretch* stretch = nullptr;
};

// Whether that row of one is complete before the other pipe has started what is in the other stretch.
bool before(const Entry& a, Number number, const Entry& b) {
    return find(b.core->known(*b.stretch), a.core->core().index, a.stretch->entry()) >= number;
}

// Rows of different distance may never meet.
bool never_meet(const Rows& a, const Rows& b) {
    if (a.count == 1 || b.count == 1 || a.stride != b.stride) return false;
    const std::uint64_t distance = (b.begin - a.begin) % a.stride;  // b begins later
    return distance >= a.bytes && distance + b.bytes <= a.stride;
}

class Sweep {
public:
    Sweep(Launch& launch, CoreOrder& order) : launch_(launch), order_(order) {}

    void run(std::span<const Stretches* const> cores) {
        for (const Stretches* core : cores)
            for (const Stretch& stretch : core->all())
                if (!stretch.dead) entries_.push_back({stretch.rows.begin, stretch.rows.end(), core, &stretch});
        std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
            return std::tuple(a.begin, a.core->core().index, a.stretch->first) <
                   std::tuple(b.begin, b.core->core().index, b.stretch->first);
        });
        for (const Entry& entry : entries_) {
            if (entry.stretch->write) look(reads_, entry);
            look(writes_, entry);
            (entry.stretch->write ? writes_ : reads_).push_back(&entry);
            if (pairs_ > most_pairs) break;
        }
        if (pairs_ > most_pairs)
            launch_.reports.add(Level::note, "check.limit", nullptr, CANOPY_MEMORY_GLOBAL,
                                "accesses of cores to global memory are compared in part only",
                                "there are too many that may overlap", "", {});
    }

private:
    void look(std::vector<const Entry*>& open, const Entry& entry) {
        std::size_t kept = 0;
        for (const Entry* other : open) {
            if (other->end <= entry.begin) continue;
            open[kept++] = other;
            if (other->core == entry.core) continue;
            ++pairs_;
            compare(*other, entry);
        }
        open.resize(kept);
    }

    void compare(const Entry& a, const Entry& b) {
        if (combine(*a.stretch, *b.stretch) || never_meet(a.stretch->rows, b.stretch->rows)) return;
        if (before(a, a.stretch->last(), b) || before(b, b.stretch->last(), a)) return;
        const bool few = a.stretch->rows.count <= b.stretch->rows.count;
        const Entry& outer = few ? a : b;
        const Entry& inner = few ? b : a;
        std::uint64_t begin = ~std::uint64_t{0}, bytes = 0;
        std::uint32_t outer_row = 0, inner_row = 0;
        for (std::uint32_t row = 0; row < outer.stretch->rows.count; ++row) {
            const std::uint64_t from = outer.stretch->rows.row(row), to = from + outer.stretch->rows.bytes;
            const auto touched = inner.stretch->rows.touching(from, to);
            if (!touched) continue;
            for (std::uint32_t other = touched->first; other <= touched->last; ++other) {
                if (before(outer, outer.stretch->number_of_row(row), inner) ||
                    before(inner, inner.stretch->number_of_row(other), outer))
                    continue;
                const std::uint64_t low = std::max(from, inner.stretch->rows.row(other));
                const std::uint64_t high = std::min(to, inner.stretch->rows.row(other) + inner.stretch->rows.bytes);
                bytes += high - low;
                if (low >= begin) continue;
                begin = low;
                outer_row = row;
                inner_row = other;
            }
        }
        if (bytes == 0 || is_signal(a, b, begin)) return;
        const Number number_a = a.stretch->number_of_row(few ? outer_row : inner_row);
        const Number number_b = b.stretch->number_of_row(few ? inner_row : outer_row);
        if (earlier(a, b)) {
            report(a, number_a, b, number_b, begin, bytes);
        } else {
            report(b, number_b, a, number_a, begin, bytes);
        }
    }

    // Scalar units signal each other by words; these accesses are whole, and do not conflict.
    bool is_signal(const Entry& a, const Entry& b, std::uint64_t begin) {
        if (a.stretch->pipe != CANOPY_CHECK_S || b.stretch->pipe != CANOPY_CHECK_S) return false;
        return (a.stretch->bypass && b.stretch->bypass) || order_.is_word(begin);
    }

    // Cores that nothing orders have no earlier and later. Most run the same lines, so the place between two meetings
    // tells which of two lines comes first.
    static bool earlier(const Entry& a, const Entry& b) {
        const auto moment = [](const Entry& entry) {
            return std::tuple(entry.stretch->phase, entry.stretch->in_phase, entry.core->core().index);
        };
        return moment(a) < moment(b);
    }

    void report(const Entry& a, Number number_a, const Entry& b, Number number_b, std::uint64_t begin,
                std::uint64_t bytes) {
        const bool atomic = a.stretch->write && b.stretch->write && a.stretch->atomic != b.stretch->atomic;
        const bool approximate = a.stretch->approximate || b.stretch->approximate;
        const char* id = atomic ? "race.atomic" : "race.core";
        const char* kind = hazard_kind(a.stretch->write, b.stretch->write);
        const auto side = [&](const Entry& entry, Number number) {
            const std::uint8_t how = entry.stretch->write ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ;
            const Line& line = entry.core->line(*entry.stretch);
            return Reports::Side{.site = line.site,
                                 .operand = line.operand_at(CANOPY_MEMORY_GLOBAL, how, begin),
                                 .access = how,
                                 .pipe = static_cast<int>(entry.stretch->pipe),
                                 .core = &entry.core->core(),
                                 .address = begin,
                                 .bytes = bytes,
                                 .number = number};
        };
        const std::array sides = {side(a, number_a), side(b, number_b)};
        const std::array turned = {sides[1], sides[0]};
        const char* other_kind = hazard_kind(b.stretch->write, a.stretch->write);
        if (launch_.reports.count_again(id, kind, CANOPY_MEMORY_GLOBAL, sides) ||
            launch_.reports.count_again(id, other_kind, CANOPY_MEMORY_GLOBAL, turned))
            return;
        const Accessor first{&a.core->core(), a.stretch->pipe, a.stretch->write};
        const Accessor second{&b.core->core(), b.stretch->pipe, b.stretch->write};
        Verdict verdict = verdict_between_cores(first, second, b.core->known(*b.stretch));
        if (approximate) {
            verdict.level = Level::warning;
            verdict.explanation += ". Approximate: the launch touched too much to keep more than whole pages";
        }
        launch_.reports.add(
            verdict.level, id, kind, CANOPY_MEMORY_GLOBAL,
            fmt::format("Potential {} hazard detected at GM{}", kind, atomic ? ", one of them atomic" : ""),
            verdict.explanation, verdict.missing, sides);
    }

    Launch& launch_;
    CoreOrder& order_;
    std::vector<Entry> entries_;
    std::vector<const Entry*> reads_, writes_;
    std::uint64_t pairs_ = 0;
};

}  // namespace

void find_hazards_between_cores(Launch& launch, CoreOrder& order, std::span<const Stretches* const> cores) {
    Sweep(launch, order).run(cores);
}

std::vector<TouchedRange> touched_ranges(std::span<const Stretches* const> cores) {
    std::vector<TouchedRange> ranges;
    for (const Stretches* core : cores) {
        for (const Stretch& stretch : core->all()) {
            if (stretch.dead) continue;
            TouchedRange range;
            range.written = stretch.write;
            range.atomic = stretch.atomic;
            range.site = core->line(stretch).site;
            range.block = core->core().facts.block;
            const Rows& rows = stretch.rows;
            const bool joined = rows.count == 1 || rows.stride <= rows.bytes;
            for (std::uint32_t row = 0; row < (joined ? 1 : rows.count); ++row) {
                range.begin = rows.row(row);
                range.end = joined ? rows.end() : range.begin + rows.bytes;
                ranges.push_back(range);
            }
        }
    }
    const auto kind = [](const TouchedRange& range) { return std::tuple(range.written, range.atomic); };
    std::ranges::sort(ranges, [&](const TouchedRange& a, const TouchedRange& b) {
        return std::tuple(kind(a), a.begin, a.end, a.block, a.site.line) <
               std::tuple(kind(b), b.begin, b.end, b.block, b.site.line);
    });
    std::size_t kept = 0;
    for (const TouchedRange& range : ranges) {
        if (kept != 0 && kind(ranges[kept - 1]) == kind(range) && range.begin <= ranges[kept - 1].end) {
            ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
        } else {
            ranges[kept++] = range;
        }
    }
    ranges.resize(kept);
    std::ranges::sort(ranges, [](const TouchedRange& a, const TouchedRange& b) {
        return std::tuple(a.begin, a.end, a.written, a.atomic) < std::tuple(b.begin, b.end, b.written, b.atomic);
    });
    return ranges;
}

}  // namespace canopy::check
