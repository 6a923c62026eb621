// SPDX-License-Identifier: Apache-2.0
// The lines of global memory that the scalar units of a launch have written through their data caches. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "check/model/core.h"
#include "foundation/mutex.h"

namespace canopy::check {

constexpr std::uint64_t cache_line_bytes = 64;

class CacheLines {
public:
    explicit CacheLines(Launch& launch) : launch_(launch) {}

    // What one core has written of a line while it learned nothing new of other cores.
    struct Write {
        const Core* core = nullptr;
        std::uint32_t phase = 0;
        std::uint64_t bytes = 0;  // a bit for each
        Number number = 0;        // of the last write
        Number cleaned = 0;       // the core's last access when it cleaned the line; 0: it has not
        KnownCores known;         // what it knew of other cores
        CanopyCheckSite site{};
    };

    void wrote(const Core& core, std::uint64_t line, std::uint64_t bytes, Number number, const CanopyCheckSite& site);
    void cleaned(const Core& core, std::uint64_t line);
    // Whether some core may have written a line in that range.
    [[nodiscard]] bool any(std::uint64_t first_line, std::uint64_t last_line) const {
        return count_.load(std::memory_order_acquire) != 0 && last_line >= first_.load(std::memory_order_relaxed) &&
               first_line <= last_.load(std::memory_order_relaxed);
    }
    // A copy of what other cores have written of a line, as far as `known` has heard of it.
    [[nodiscard]] std::vector<Write> of_others(const Core& core, std::uint64_t line, const KnownCores& known);
    // All cores have ended: reports lines that several have written without an order.
    void end();

    // Whether the write, and that its line was cleaned, is known.
    static bool is_known(const KnownCores& known, const Write& write);
    static bool is_clean(const KnownCores& known, const Write& write);

private:
    static constexpr std::size_t shard_count = 64;
    static constexpr std::size_t most_writes = std::size_t{1} << 18;
    struct Shard {
        Mutex mutex;
        std::unordered_map<std::uint64_t, std::vector<Write>> lines CANOPY_GUARDED_BY(mutex);
    };

    Shard& shard(std::uint64_t line) { return shards_[line % shard_count]; }
    void compare(std::uint64_t line, std::vector<Write>& writes);

    Launch& launch_;
    std::array<Shard, shard_count> shards_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> first_{~std::uint64_t{0}}, last_{0};
};

}  // namespace canopy::check
