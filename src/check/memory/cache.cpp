// SPDX-License-Identifier: Apache-2.0
#include "check/memory/cache.h"

#include <canopy/kernel_abi.h>

#include <algorithm>

#include "check/model/walk.h"

namespace canopy::check {

namespace {

// DataSyncBarrier of the kind UB; the others wait for global memory too.
constexpr std::uint32_t barrier_of_ub = 2;

// The bits of line `number` for the bytes [begin, end).
std::uint64_t bytes_in_line(std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t line = number * cache_line_bytes;
    const std::uint64_t first = begin > line ? begin - line : 0, last = std::min(end - line, cache_line_bytes);
    const std::uint64_t count = last - first;
    return count == cache_line_bytes ? ~std::uint64_t{0} : ((std::uint64_t{1} << count) - 1) << first;
}

std::uint64_t first_byte(std::uint64_t number, std::uint64_t bytes) {
    return number * cache_line_bytes + static_cast<unsigned>(__builtin_ctzll(bytes));
}
std::uint64_t count_of(std::uint64_t bytes) { return static_cast<std::uint64_t>(__builtin_popcountll(bytes)); }

// visit(number, bits) for each line that the bytes are in.
template <class Visit>
void each_line(std::uint64_t begin, std::uint64_t bytes, Visit visit) {
    const std::uint64_t end = begin + bytes;
    for (std::uint64_t number = begin / cache_line_bytes; number * cache_line_bytes < end; ++number)
        visit(number, bytes_in_line(number, begin, end));
}

}  // namespace

void ScalarCache::operation(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& access = operation.accesses[i];
        if (access.memory != CANOPY_MEMORY_GLOBAL) continue;
        if (operation.pipe != CANOPY_CHECK_S)
            copy(told, access);
        else if ((operation.flags & CANOPY_CHECK_BYPASS) != 0 || access.atomic != CANOPY_CHECK_PLAIN)
            past(told, access);
        else
            scalar(told, access);
    }
}

// ---- through the cache ---------------------------------------------------------------------------------------------

void ScalarCache::scalar(const Told& told, const CanopyCheckAccess& access) {
    each_piece(access, [&](std::uint64_t begin, std::uint64_t count) {
        each_line(begin, count, [&](std::uint64_t number, std::uint64_t bytes) {
            if ((access.kind & CANOPY_CHECK_READ) != 0) read(told, number, bytes);
            if ((access.kind & CANOPY_CHECK_WRITE) != 0) write(told, number, bytes);
        });
    });
}

// The line, fetched if the cache does not hold it.
ScalarCache::Line& ScalarCache::hold(const Told& told, std::uint64_t number) {
    if (last_ != nullptr && last_number_ == number) return *last_;
    auto found = lines_.find(number);
    if (found == lines_.end()) {
        if (lines_.size() >= most_lines) lines_.clear();
        found = lines_.try_emplace(number).first;
        Line& line = found->second;
        line.known = core_.order.known(CANOPY_CHECK_S).others;
        line.phase = core_.phase;
        line.fetched = told.operation.site;
        line.fetch_number = told.number;
    }
    last_ = &found->second;
    last_number_ = number;
    return *last_;
}

void ScalarCache::read(const Told& told, std::uint64_t number, std::uint64_t bytes) {
    Line& line = hold(told, number);
    if ((line.overwritten & bytes) != 0)
        report("cache.stale", told,
               {.site = line.copied,
                .access = CANOPY_CHECK_WRITE,
                .pipe = line.copy_pipe,
                .core = &core_,
                .address = first_byte(number, line.overwritten),
                .bytes = count_of(line.overwritten),
                .number = line.copy_number},
               number, bytes & line.overwritten, "the cache holds the line since before the write",
               "dcci before the read");
    // What other cores have done matters when this one has heard of it.
    if (line.phase != core_.phase) line.compared = 0;
    line.phase = core_.phase;
    const std::uint64_t others = bytes & ~line.dirty & ~line.compared;
    if (others == 0) return;
    line.compared |= others;
    check_others(told, number, others, &line);
}

void ScalarCache::write(const Told& told, std::uint64_t number, std::uint64_t bytes) {
    Line& line = hold(told, number);
    const bool recorded = line.recorded == core_.phase && (bytes & ~line.dirty) == 0;
    line.dirty |= bytes;
    line.overwritten &= ~bytes;
    line.written = told.operation.site;
    line.write_number = told.number;
    if (recorded) return;
    line.recorded = core_.phase;
    shared_.wrote(core_, number, bytes, told.number, told.operation.site);
}

// ---- beside the cache ----------------------------------------------------------------------------------------------

void ScalarCache::past(const Told& told, const CanopyCheckAccess& access) {
    each_piece(access, [&](std::uint64_t begin, std::uint64_t count) {
        each_line(begin, count, [&](std::uint64_t number, std::uint64_t bytes) {
            if ((access.kind & CANOPY_CHECK_READ) != 0) {
                check_own_dirty(told, number, bytes);
                check_others(told, number, bytes, nullptr);
            }
            if ((access.kind & CANOPY_CHECK_WRITE) == 0) return;
            if (const auto found = cleaning_.find(number); found != cleaning_.end())
                report("cache.dirty", told,
                       {.site = found->second,
                        .access = CANOPY_CHECK_WRITE,
                        .pipe = CANOPY_CHECK_S,
                        .core = &core_,
                        .address = number * cache_line_bytes,
                        .bytes = cache_line_bytes},
                       number, bytes, "the line is being written back, and may arrive later", "DataSyncBarrier<DDR>",
                       CANOPY_CHECK_WRITE);
        });
    });
}

void ScalarCache::copy(const Told& told, const CanopyCheckAccess& access) {
    const bool others = core_.phase != 0;
    if (lines_.empty() && !others) return;
    each_piece(access, [&](std::uint64_t begin, std::uint64_t count) {
        const std::uint64_t first = begin / cache_line_bytes, last = (begin + count - 1) / cache_line_bytes;
        if (!lines_.empty()) {
            const auto touch = [&](std::uint64_t number, Line& line) {
                const std::uint64_t bytes = bytes_in_line(number, begin, begin + count);
                if ((access.kind & CANOPY_CHECK_READ) != 0) check_own_dirty(told, number, bytes);
                if ((access.kind & CANOPY_CHECK_WRITE) == 0) return;
                line.overwritten |= bytes & ~line.dirty;
                line.copied = told.operation.site;
                line.copy_number = told.number;
                line.copy_pipe = told.operation.pipe;
            };
            if (lines_.size() < last - first + 1) {
                for (auto& [number, line] : lines_)
                    if (number >= first && number <= last) touch(number, line);
            } else {
                for (std::uint64_t number = first; number <= last; ++number)
                    if (const auto found = lines_.find(number); found != lines_.end()) touch(number, found->second);
            }
        }
        if (others && (access.kind & CANOPY_CHECK_READ) != 0 && shared_.any(first, last))
            each_line(begin, count,
                      [&](std::uint64_t number, std::uint64_t bytes) { check_others(told, number, bytes, nullptr); });
    });
}

void ScalarCache::check_own_dirty(const Told& told, std::uint64_t number, std::uint64_t bytes) {
    const auto found = lines_.find(number);
    if (found == lines_.end() || (found->second.dirty & bytes) == 0) return;
    const Line& line = found->second;
    report("cache.dirty", told,
           {.site = line.written,
            .access = CANOPY_CHECK_WRITE,
            .pipe = CANOPY_CHECK_S,
            .core = &core_,
            .address = first_byte(number, line.dirty),
            .bytes = count_of(line.dirty),
            .number = line.write_number},
           number, bytes & line.dirty, "what the scalar unit wrote is in its cache only", "dcci behind the write");
}

// What other cores have written before this access: was it cleaned, and is the line that this core holds older?
void ScalarCache::check_others(const Told& told, std::uint64_t number, std::uint64_t bytes, const Line* held) {
    if (core_.phase == 0 || !shared_.any(number, number)) return;
    const KnownCores known = core_.order.known(told.operation.pipe).others;
    for (const CacheLines::Write& write : shared_.of_others(core_, number, known)) {
        if ((write.bytes & bytes) == 0) continue;
        const Reports::Side earlier{.site = write.site,
                                    .access = CANOPY_CHECK_WRITE,
                                    .pipe = CANOPY_CHECK_S,
                                    .core = write.core,
                                    .address = first_byte(number, write.bytes),
                                    .bytes = count_of(write.bytes),
                                    .number = write.number};
        if (!CacheLines::is_clean(known, write))
            report("cache.dirty", told, earlier, number, write.bytes & bytes,
                   "what the scalar unit wrote is in the cache of its core only", "dcci behind the write");
        else if (held != nullptr && !CacheLines::is_known(held->known, write))
            report("cache.stale", told, earlier, number, write.bytes & bytes,
                   "the cache holds the line since before the write", "dcci before the read");
    }
}

// ---- cleaning ------------------------------------------------------------------------------------------------------

void ScalarCache::clean(std::uint32_t event, const void* address) {
    last_ = nullptr;
    const auto write_back = [&](std::uint64_t number, const Line& line) {
        if (line.dirty == 0) return;
        shared_.cleaned(core_, number);
        if (cleaning_.size() >= most_lines) cleaning_.clear();
        cleaning_[number] = line.written;
    };
    if (event == CANOPY_CHECK_CACHE_CLEAN_LINE) {
        const auto found = lines_.find(reinterpret_cast<std::uint64_t>(address) / cache_line_bytes);
        if (found == lines_.end()) return;
        write_back(found->first, found->second);
        lines_.erase(found);
        return;
    }
    for (const auto& [number, line] : lines_) write_back(number, line);
    lines_.clear();
}

void ScalarCache::data_barrier(std::uint32_t kind) {
    if (kind != barrier_of_ub) cleaning_.clear();
}

void ScalarCache::report(const char* id, const Told& told, const Reports::Side& earlier, std::uint64_t number,
                         std::uint64_t bytes, const char* text, const char* missing, std::uint8_t access) {
    const Reports::Side here{.site = told.operation.site,
                             .access = access,
                             .pipe = told.operation.pipe,
                             .core = &core_,
                             .address = first_byte(number, bytes),
                             .bytes = count_of(bytes),
                             .number = told.number};
    core_.launch.reports.add(Level::error, id, nullptr, CANOPY_MEMORY_GLOBAL,
                             "Potential hazard of the scalar data cache at GM", text, missing, {earlier, here});
}

}  // namespace canopy::check
