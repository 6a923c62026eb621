// SPDX-License-Identifier: Apache-2.0
// Words in global memory by which the scalar units of cores signal each other: written past the scalar data cache, or
// cleaned from it, and read past it or after a clean. A core that reads one learns what the writer knew.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "check/model/core.h"
#include "check/model/core_order.h"

namespace canopy::check {

class Signals {
public:
    Signals(Core& core, CoreOrder& order) : core_(core), order_(order) {}

    void operation(const CanopyCheckOperation& operation) {
        if (operation.pipe == CANOPY_CHECK_S) scalar(operation);
    }
    // A line of the cache was cleaned, or all.
    void clean(const void* address);
    void clean_all();
    // Before any other event: what was read by now is taken, too.
    void settle() {
        if (read_count_ != 0) take_reads();
    }

private:
    void scalar(const CanopyCheckOperation& operation);
    void write(std::uint64_t begin, std::uint64_t end);
    void keep_last();
    void publish(std::uint64_t line, std::uint32_t words);
    void take_reads();

    Core& core_;
    CoreOrder& order_;
    std::unordered_map<std::uint64_t, std::uint32_t> dirty_;  // by line: the words that were written
    std::uint64_t last_line_ = 0;  // the one written last, and words that are not in `dirty_`
    std::uint32_t last_words_ = 0;
    std::unordered_set<std::uint64_t> cleaned_;
    bool all_cleaned_ = false;
    // An access is told before it happens, so what it sees is known at the next event.
    std::array<std::uint64_t, 4> reads_{};
    unsigned read_count_ = 0;
};

}  // namespace canopy::check
