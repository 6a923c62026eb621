// SPDX-License-Identifier: Apache-2.0
#include "check/memory/cache_lines.h"

#include <canopy/kernel_abi.h>
#include <fmt/core.h>

#include <algorithm>

namespace canopy::check {

namespace {

Number known_of(const KnownCores& known, const Core& core) {
    return std::max(find(known, core.index, CANOPY_CHECK_S), find(known, core.index, scalar_on_global));
}

}  // namespace

bool CacheLines::is_known(const KnownCores& known, const Write& write) {
    return known_of(known, *write.core) >= write.number;
}

bool CacheLines::is_clean(const KnownCores& known, const Write& write) {
    return write.cleaned != 0 && known_of(known, *write.core) >= write.cleaned;
}

void CacheLines::wrote(const Core& core, std::uint64_t line, std::uint64_t bytes, Number number,
                       const CanopyCheckSite& site) {
    Shard& place = shard(line);
    const MutexLock lock(place.mutex);
    std::vector<Write>& writes = place.lines[line];
    for (Write& write : writes)
        if (write.core == &core && write.phase == core.phase) {
            write.bytes |= bytes;
            write.number = number;
            write.cleaned = 0;
            return;
        }
    if (count_.load(std::memory_order_relaxed) >= most_writes) return;
    writes.push_back({&core, core.phase, bytes, number, 0, core.order.known(CANOPY_CHECK_S).others, site});
    for (std::uint64_t seen = first_.load(); line < seen && !first_.compare_exchange_weak(seen, line);) {
    }
    for (std::uint64_t seen = last_.load(); line > seen && !last_.compare_exchange_weak(seen, line);) {
    }
    count_.fetch_add(1, std::memory_order_release);
}

void CacheLines::cleaned(const Core& core, std::uint64_t line) {
    Shard& place = shard(line);
    const MutexLock lock(place.mutex);
    const auto found = place.lines.find(line);
    if (found == place.lines.end()) return;
    for (Write& write : found->second)
        if (write.core == &core && write.cleaned == 0) write.cleaned = core.order.last(CANOPY_CHECK_S);
}

std::vector<CacheLines::Write> CacheLines::of_others(const Core& core, std::uint64_t line, const KnownCores& known) {
    Shard& place = shard(line);
    std::vector<Write> writes;
    const MutexLock lock(place.mutex);
    const auto found = place.lines.find(line);
    if (found == place.lines.end()) return writes;
    for (const Write& write : found->second)
        if (write.core != &core && is_known(known, write)) writes.push_back(write);
    return writes;
}

void CacheLines::end() {
    if (count_.load() == 0) return;
    for (Shard& place : shards_) {
        const MutexLock lock(place.mutex);
        for (auto& [line, writes] : place.lines)
            if (writes.size() > 1) compare(line, writes);
    }
}

// One pair of a line is enough.
void CacheLines::compare(std::uint64_t line, std::vector<Write>& writes) {
    std::ranges::stable_sort(writes, {}, [](const Write& write) { return write.core->index; });
    const auto ordered = [](const Write& a, const Write& b) { return is_known(b.known, a) && is_clean(b.known, a); };
    for (std::size_t i = 1; i < writes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const Write& a = writes[j];
            const Write& b = writes[i];
            if (a.core == b.core || a.bytes == b.bytes || ordered(a, b) || ordered(b, a)) continue;
            const auto side = [&](const Write& write) {
                const auto first = static_cast<unsigned>(__builtin_ctzll(write.bytes));
                return Reports::Side{.site = write.site,
                                     .access = CANOPY_CHECK_WRITE,
                                     .pipe = CANOPY_CHECK_S,
                                     .core = write.core,
                                     .address = line * cache_line_bytes + first,
                                     .bytes = static_cast<std::uint64_t>(__builtin_popcountll(write.bytes)),
                                     .number = write.number};
            };
            launch_.reports.add(
                Level::error, "cache.line", nullptr, CANOPY_MEMORY_GLOBAL,
                "Potential hazard of the scalar data cache at GM",
                fmt::format(
                    "two cores write bytes of the line of {} bytes at {:#x}: the one that is written back later "
                    "takes the other's bytes along",
                    cache_line_bytes, line * cache_line_bytes),
                "separate lines for separate cores", {side(a), side(b)});
            return;
        }
}

}  // namespace canopy::check
