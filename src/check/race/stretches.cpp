// SPDX-License-Identifier: Apache-2.0
#include "check/race/stretches.h"

#include <fmt/core.h>

#include <algorithm>

#include "check/model/walk.h"
#include "check/model/wording.h"

namespace canopy::check {

namespace {

// Beyond these a launch keeps whole pages.
constexpr std::uint64_t most_entries = std::uint64_t{4} << 20;
constexpr std::uint64_t page_bytes = 4096;

// Calls visit(rows) for the bytes of an access.
template <class Visit>
void each_rows(const CanopyCheckAccess& access, Visit visit) {
    if (access.lanes != nullptr) {
        each_piece(access, [&](std::uint64_t begin, std::uint64_t bytes) { visit(Rows{begin, bytes, bytes, 1}); });
        return;
    }
    std::uint64_t step = access.step;
    std::uint32_t pieces = walk::distinct_pieces(access), repeats = walk::distinct_repeats(access);
    if (access.bytes == 0 || pieces == 0 || repeats == 0) return;
    std::uint64_t repeat_step = access.repeat_step;
    if (pieces == 1) {
        step = repeat_step;
        std::swap(pieces, repeats);
    } else if (repeats > 1 && repeat_step == step * pieces) {
        pieces *= repeats;
        repeats = 1;
    }
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
        Rows rows{walk::address_of(access) + repeat * repeat_step, access.bytes, step, pieces};
        if (pieces == 1) {
            rows.stride = rows.bytes;
        } else if (static_cast<std::int64_t>(step) < 0) {
            rows.begin += (pieces - 1) * step;
            rows.stride = -step;
        }
        if (rows.stride == rows.bytes) rows = {rows.begin, rows.bytes * rows.count, rows.bytes * rows.count, 1};
        visit(rows);
    }
}

}  // namespace

std::optional<Rows::Range> Rows::touching(std::uint64_t from, std::uint64_t to) const {
    if (to <= begin || from >= end() || from >= to) return std::nullopt;
    if (count == 1) return Range{0, 0};
    const std::uint64_t first = from < begin + bytes ? 0 : (from - begin - bytes) / stride + 1;
    const std::uint64_t last = std::min<std::uint64_t>(count - 1, (to - 1 - begin) / stride);
    if (first > last) return std::nullopt;
    return Range{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

bool combine(const Stretch& a, const Stretch& b) {
    return a.write && b.write && a.atomic != CANOPY_CHECK_PLAIN && a.atomic == b.atomic &&
           a.element_type == b.element_type;
}

void Stretches::access(const Told& told, const CanopyCheckAccess& access, bool write) {
    // What an atomic access reads goes with what it writes.
    if (!write && access.atomic != CANOPY_CHECK_PLAIN && (access.kind & CANOPY_CHECK_WRITE) != 0) return;
    if (told.operation.pipe != CANOPY_CHECK_S) {
        use_pipe(told.operation.pipe, write);
    } else if (go_on(told, access, write)) {
        return;
    }
    each_rows(access, [&](const Rows& rows) { touch(told, access, rows, write); });
}

// Scalar loops: the next row of the line's stretch, at a place without hazards. Only saves time.
bool Stretches::go_on(const Told& told, const CanopyCheckAccess& access, bool write) {
    Line& line = core_.lines[told.line];
    const std::uint32_t slot = line.stretches[write ? 1 : 0];
    if (slot == 0) return false;
    Stretch& last = all_[slot - 1];
    const std::uint64_t begin = walk::address_of(access);
    const Gap& gap = gaps_[write];
    if (last.instructions < 2 || last.dead || !last.active || last.line != told.line || last.write != write ||
        last.pipe != CANOPY_CHECK_S || access.pieces != 1 || access.repeats != 1 || access.lanes != nullptr ||
        access.bytes != last.rows.bytes || begin != last.rows.begin + last.rows.count * last.rows.stride ||
        told.number != last.last() + last.step || last.epoch != core_.order.exchanges() ||
        known_[last.known] != core_.order.known(CANOPY_CHECK_S).others || last.rows.count == ~std::uint32_t{0} ||
        last.atomic != CANOPY_CHECK_PLAIN || access.atomic != CANOPY_CHECK_PLAIN ||
        last.bypass != ((told.operation.flags & CANOPY_CHECK_BYPASS) != 0) || gap.version != version_ ||
        begin < gap.begin || begin + access.bytes > gap.end)
        return false;
    ++last.rows.count;
    ++last.instructions;
    const std::uint32_t before = line.stretches[write ? 3 : 2];
    if (before != 0 && all_[before - 1].rows.count == last.rows.count) forget_repeated(line, slot - 1);
    return true;
}

void Stretches::touch(const Told& told, const CanopyCheckAccess& access, const Rows& rows, bool write) {
    Stretch now;
    now.rows = rows;
    now.rows_each = rows.count;
    now.first = told.number;
    now.line = told.line;
    now.known = known_place(told.operation.pipe);
    now.epoch = core_.order.exchanges();
    now.phase = core_.phase;
    now.in_phase = told.number - core_.phase_begin;
    now.pipe = told.operation.pipe;
    now.write = write;
    now.bypass = (told.operation.flags & CANOPY_CHECK_BYPASS) != 0;
    now.atomic = write ? access.atomic : std::uint8_t{CANOPY_CHECK_PLAIN};
    now.element_type = access.element_type;
    if (core_.launch.options.classes.race) find_hazards(told, now);
    add(now);
}

// ---- inside the core
// -------------------------------------------------------------------------------------------------

void Stretches::find_hazards(const Told& told, const Stretch& now) {
    if (now.pipe == CANOPY_CHECK_S) {
        find_scalar_hazards(told, now);
        return;
    }
    if (told.number - pruned_ > 16) prune();
    const std::uint64_t begin = now.rows.begin, end = now.rows.end();
    // What orders this write behind a read orders it behind the writes before that, too.
    Number covered = 0;
    for (const bool writes : {false, true}) {
        if (!writes && !now.write) continue;
        for (const std::uint32_t place : active_[writes]) {
            const Stretch& earlier = all_[place];
            if (earlier.rows.begin >= end || begin >= earlier.rows.end()) continue;
            const Number found = compare(told, earlier, now, covered);
            if (!writes) covered = std::max(covered, found);
        }
    }
}

void Stretches::find_scalar_hazards(const Told& told, const Stretch& now) {
    const std::uint64_t begin = now.rows.begin, end = now.rows.end();
    Gap& gap = gaps_[now.write];
    if (gap.version == version_ && begin >= gap.begin && end <= gap.end) return;
    gap = {0, ~std::uint64_t{0}, version_};
    const auto complete = [&](const Stretch& earlier) {
        return core_.order.complete(earlier.entry(), earlier.last(), CANOPY_CHECK_S);
    };
    const auto look = [&](const Stretch& earlier) {
        if (earlier.dead || earlier.pipe == CANOPY_CHECK_S || complete(earlier)) return;
        const std::uint64_t from = earlier.rows.begin, to = earlier.rows.end();
        if (from < end && begin < to) {
            compare(told, earlier, now, 0);
            gap.version = ~std::uint64_t{0};
        } else if (to <= begin) {
            gap.begin = std::max(gap.begin, to);
        } else {
            gap.end = std::min(gap.end, from);
        }
    };
    for (const bool writes : {false, true}) {
        if (!writes && !now.write) continue;
        std::erase_if(pending_[writes], [&](std::uint32_t place) {
            Stretch& stretch = all_[place];
            if (!stretch.dead && !complete(stretch)) return false;
            stretch.pending = false;
            if (stretch.dead) free_.push_back(place);
            return true;
        });
        for (const std::uint32_t place : active_[writes]) look(all_[place]);
        for (const std::uint32_t place : pending_[writes])
            if (!all_[place].active) look(all_[place]);
    }
}

// The number of the latest row with a hazard; 0: none.
Number Stretches::compare(const Told& told, const Stretch& earlier, const Stretch& now, Number covered) {
    if (earlier.dead || combine(earlier, now)) return 0;
    const bool in_pipe = earlier.pipe == now.pipe;
    if (in_pipe && (!earlier.write || now.pipe == CANOPY_CHECK_S)) return 0;
    Number complete = core_.order.known(now.pipe).own[earlier.entry()];
    if (in_pipe) complete = std::max(complete, covered);
    if (earlier.last() <= complete || earlier.first == told.number) return 0;
    std::uint64_t begin = ~std::uint64_t{0}, bytes = 0;
    Number number = 0, latest = 0;
    for (std::uint32_t row = 0; row < now.rows.count; ++row) {
        const std::uint64_t from = now.rows.row(row), to = from + now.rows.bytes;
        const auto touched = earlier.rows.touching(from, to);
        if (!touched) continue;
        for (std::uint32_t other = touched->first; other <= touched->last; ++other) {
            const Number earlier_number = earlier.number_of_row(other);
            if (earlier_number <= complete || earlier_number == told.number) continue;
            const std::uint64_t low = std::max(from, earlier.rows.row(other));
            const std::uint64_t high = std::min(to, earlier.rows.row(other) + earlier.rows.bytes);
            bytes += high - low;
            latest = std::max(latest, earlier_number);
            if (low >= begin) continue;
            begin = low;
            number = earlier_number;
        }
    }
    if (bytes != 0) report(told, earlier, now, number, begin, bytes);
    return latest;
}

void Stretches::report(const Told& told, const Stretch& earlier, const Stretch& now, Number number, std::uint64_t begin,
                       std::uint64_t bytes) {
    const Line& line = core_.lines[earlier.line];
    const Line& line_now = core_.lines[now.line];
    const Accessor before{&core_, earlier.pipe, earlier.write, line.flags};
    const Accessor after{&core_, now.pipe, now.write, told.operation.flags};
    const bool atomic = earlier.write && now.write && earlier.atomic != now.atomic;
    const char* id = atomic ? "race.atomic" : earlier.pipe == now.pipe ? "race.in-pipe" : "race.pipe";
    const char* kind = hazard_kind(earlier.write, now.write);
    const auto side = [&](const Accessor& who, const Line& of, Number which) {
        const std::uint8_t how = who.wrote ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ;
        return Reports::Side{.site = of.site,
                             .operand = of.operand_at(CANOPY_MEMORY_GLOBAL, how, begin),
                             .access = how,
                             .pipe = static_cast<int>(who.pipe),
                             .core = &core_,
                             .address = begin,
                             .bytes = bytes,
                             .number = which};
    };
    const std::array sides = {side(before, line, number), side(after, line_now, told.number)};
    Reports& reports = core_.launch.reports;
    if (!reports.count_again(id, kind, CANOPY_MEMORY_GLOBAL, sides)) {
        const Verdict verdict = verdict_in_core(core_.launch, core_.order, before, after);
        reports.add(verdict.level, id, kind, CANOPY_MEMORY_GLOBAL,
                    fmt::format("Potential {} hazard detected at GM{}", kind, atomic ? ", one of them atomic" : ""),
                    verdict.explanation, verdict.missing, sides);
    }
    if (ordered_by_compiler(core_.launch, before, after)) core_.order.add_edge(before.pipe, number, after.pipe);
}

// ---- the list
// --------------------------------------------------------------------------------------------------------

std::uint32_t Stretches::known_place(unsigned pipe) {
    const KnownCores& others = core_.order.known(pipe).others;
    // Mostly the last one, or nothing.
    for (std::size_t back = 0; back < std::min<std::size_t>(known_.size(), 8); ++back)
        if (known_[known_.size() - 1 - back] == others) return static_cast<std::uint32_t>(known_.size() - 1 - back);
    if (others == nullptr) return 0;
    known_.push_back(others);
    return static_cast<std::uint32_t>(known_.size() - 1);
}

void Stretches::add(const Stretch& now) {
    if (now.pipe != CANOPY_CHECK_S) ++version_;
    Line& line = core_.lines[now.line];
    std::uint32_t& slot = line.stretches[now.write ? 1 : 0];
    if (slot != 0 && extend(slot - 1, now)) {
        activate(slot - 1);
        forget_repeated(line, slot - 1);
        return;
    }
    if (free_.empty() && entries_.load(std::memory_order_relaxed) >= most_entries) {
        add_pages(now);
        return;
    }
    std::uint32_t place = 0;
    if (free_.empty()) {
        entries_.fetch_add(1, std::memory_order_relaxed);
        place = static_cast<std::uint32_t>(all_.size());
        all_.push_back(now);
    } else {
        place = free_.back();
        free_.pop_back();
        all_[place] = now;
    }
    line.stretches[now.write ? 3 : 2] = slot;
    slot = place + 1;
    activate(place);
    forget_repeated(line, place);
}

bool Stretches::extend(std::uint32_t place, const Stretch& now) {
    Stretch& last = all_[place];
    if (last.dead || last.line != now.line || last.pipe != now.pipe || last.write != now.write ||
        last.known != now.known || last.epoch != now.epoch || last.bypass != now.bypass || last.atomic != now.atomic ||
        last.element_type != now.element_type || last.rows.bytes != now.rows.bytes || last.rows_each != now.rows.count)
        return false;
    Rows& rows = last.rows;
    if (last.instructions == 1) {
        // The same place again: only the latest counts.
        if (rows.begin == now.rows.begin && rows.stride == now.rows.stride) {
            last.first = now.first;
            last.in_phase = now.in_phase;
            return true;
        }
        if (rows.count > 1 && rows.stride != now.rows.stride) return false;
        if (now.rows.begin <= rows.begin || rows.count == ~std::uint32_t{0}) return false;
        if (rows.count > 1 && now.rows.begin != rows.begin + rows.count * rows.stride) return false;
        if (rows.count == 1) rows.stride = now.rows.begin - rows.begin;
        last.step = now.first - last.first;
    } else if (now.rows.begin != rows.begin + rows.count * rows.stride || now.first != last.last() + last.step ||
               (now.rows.count > 1 && rows.stride != now.rows.stride)) {
        return false;
    }
    rows.count += now.rows.count;
    ++last.instructions;
    return true;
}

// A line that goes over the same rows once more, with no exchange between: only the latest time counts.
void Stretches::forget_repeated(Line& line, std::uint32_t place) {
    const Stretch& now = all_[place];
    std::uint32_t& before = line.stretches[now.write ? 3 : 2];
    if (before == 0 || before == place + 1) return;
    Stretch& old = all_[before - 1];
    if (old.dead || old.line != now.line || old.write != now.write) {
        before = 0;
        return;
    }
    if (old.epoch != now.epoch || old.known != now.known || old.pipe != now.pipe || old.atomic != now.atomic ||
        old.bypass != now.bypass || old.rows.begin != now.rows.begin || old.rows.bytes != now.rows.bytes ||
        old.rows.count != now.rows.count || (old.rows.count > 1 && old.rows.stride != now.rows.stride))
        return;
    old.dead = true;
    if (old.active) std::erase(active_[old.write], before - 1);
    old.active = false;
    if (!old.pending) free_.push_back(before - 1);
    before = 0;
}

void Stretches::add_pages(const Stretch& now) {
    for (std::uint64_t page = now.rows.begin / page_bytes; page <= (now.rows.end() - 1) / page_bytes; ++page) {
        const std::uint64_t key = page << 4 | std::uint64_t{now.pipe} << 1 | std::uint64_t{now.write};
        const auto [at, added] = pages_.try_emplace(key, static_cast<std::uint32_t>(all_.size()));
        if (added) {
            Stretch whole = now;
            whole.rows = {page * page_bytes, page_bytes, page_bytes, 1};
            whole.rows_each = 1;
            whole.approximate = true;
            all_.push_back(whole);
        } else {
            Stretch& whole = all_[at->second];
            whole.first = now.first;
            whole.line = now.line;
            whole.known = now.known;
        }
    }
}

void Stretches::activate(std::uint32_t place) {
    Stretch& stretch = all_[place];
    if (stretch.active) return;
    stretch.active = true;
    active_[stretch.write].push_back(place);
}

// A pipe that has not accessed global memory before may conflict with all that is not complete for it.
void Stretches::use_pipe(unsigned pipe, bool write) {
    const std::uint32_t bit = 1U << pipe;
    if ((pipes_ & bit) != 0 && (!write || (writing_pipes_ & bit) != 0)) return;
    pipes_ |= bit;
    if (write) writing_pipes_ |= bit;
    for (const bool writes : {false, true}) {
        for (const std::uint32_t place : pending_[writes]) {
            Stretch& stretch = all_[place];
            stretch.pending = false;
            if (stretch.dead) {
                free_.push_back(place);
            } else {
                activate(place);
            }
        }
        pending_[writes].clear();
    }
}

void Stretches::prune() {
    pruned_ = core_.order.number();
    if (active_[0].size() + active_[1].size() < 8) return;
    prune(active_[0], false);
    prune(active_[1], true);
}

// Moves those out that are complete for every pipe that they may conflict with, but the scalar unit.
void Stretches::prune(std::vector<std::uint32_t>& active, bool writes) {
    std::array<Numbers, CANOPY_CHECK_PIPES> floors;
    for (Numbers& floor : floors) floor.fill(~Number{0});
    // floors[q][e]: the least that pipes other than q know of e; a pipe conflicts with its earlier writes, too.
    for (unsigned pipe = 1; pipe < CANOPY_CHECK_PIPES; ++pipe) {
        if (((writes ? pipes_ : writing_pipes_) >> pipe & 1) == 0) continue;
        const Numbers& own = core_.order.next(pipe).own;
        for (unsigned q = 0; q < CANOPY_CHECK_PIPES; ++q)
            for (unsigned entry = 0; entry < entry_count; ++entry)
                if (q != pipe || writes) floors[q][entry] = std::min(floors[q][entry], own[entry]);
    }
    std::size_t kept = 0;
    for (const std::uint32_t place : active) {
        Stretch& stretch = all_[place];
        if (stretch.last() > floors[stretch.pipe][stretch.entry()]) {
            active[kept++] = place;
            continue;
        }
        stretch.active = false;
        if (stretch.pipe == CANOPY_CHECK_S || stretch.pending) continue;
        stretch.pending = true;
        pending_[writes].push_back(place);
    }
    active.resize(kept);
}

}  // namespace canopy::check
