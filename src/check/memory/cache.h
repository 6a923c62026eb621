// SPDX-License-Identifier: Apache-2.0
// The scalar data cache of one core: lines that are older than what is in memory, and lines that are newer. It is empty
// when a kernel begins.
#pragma once

#include <canopy/kernel_check.h>

#include <cstdint>
#include <unordered_map>

#include "check/memory/cache_lines.h"
#include "check/model/core.h"

namespace canopy::check {

class ScalarCache {
public:
    ScalarCache(Core& core, CacheLines& lines) : core_(core), shared_(lines) {}

    void operation(const Told& told);
    // A CanopyCheckCacheEvent.
    void clean(std::uint32_t event, const void* address);
    // Of the kind that the language numbers.
    void data_barrier(std::uint32_t kind);

private:
    // More are not held on any chip.
    static constexpr std::size_t most_lines = 1024;

    // A line that the cache holds.
    struct Line {
        std::uint64_t dirty = 0;        // bytes that the scalar unit has written
        std::uint64_t overwritten = 0;  // bytes that copies of this core have written since
        std::uint64_t compared = 0;     // bytes compared with what other cores wrote, in this phase of the core:
        std::uint32_t phase = 0;
        std::uint32_t recorded = ~0U;  // the phase in which its bytes were last told to the launch
        KnownCores known;              // of other cores, when it was fetched
        CanopyCheckSite fetched{}, written{}, copied{};
        Number fetch_number = 0, write_number = 0, copy_number = 0;
        std::uint8_t copy_pipe = 0;
    };

    void scalar(const Told& told, const CanopyCheckAccess& access);
    void past(const Told& told, const CanopyCheckAccess& access);
    void copy(const Told& told, const CanopyCheckAccess& access);
    void read(const Told& told, std::uint64_t number, std::uint64_t bytes);
    void write(const Told& told, std::uint64_t number, std::uint64_t bytes);
    Line& hold(const Told& told, std::uint64_t number);
    void check_own_dirty(const Told& told, std::uint64_t number, std::uint64_t bytes);
    void check_others(const Told& told, std::uint64_t number, std::uint64_t bytes, const Line* held);
    void report(const char* id, const Told& told, const Reports::Side& earlier, std::uint64_t number,
                std::uint64_t bytes, const char* text, const char* missing, std::uint8_t access = CANOPY_CHECK_READ);

    Core& core_;
    CacheLines& shared_;
    std::unordered_map<std::uint64_t, Line> lines_;  // by number
    Line* last_ = nullptr;                           // touched last, and its number
    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, CanopyCheckSite> cleaning_;  // written back, and nothing waits for it yet
};

}  // namespace canopy::check
