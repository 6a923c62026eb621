// SPDX-License-Identifier: Apache-2.0
// WaitCauses: what streams waited for. The task that ends a wait is a signal; the cause is the work that the other
// stream did before it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/details.h"
#include "profile/figures.h"

namespace canopy::profile {

class WaitCauses {
public:
    // In the first pass, for every task that waits.
    void add_wait(const Thread& thread, const Detailed& wait);
    // After it.
    void sort();
    // In the second pass, for every task.
    void add_work(const Record& task);
    // After it: by stream, longest first.
    [[nodiscard]] std::unordered_map<std::uint32_t, std::vector<WaitSummary>> by_stream(const ProfileFile& file);

private:
    static constexpr std::size_t most_waits = std::size_t{1} << 20;   // the cause of later ones is only a stream
    static constexpr std::size_t most_others = std::size_t{1} << 16;  // of damaged files
    struct Wait {
        std::uint64_t released_by;  // 0 if no task did it
        std::uint32_t stream, releasing_stream;
        Place place;
    };
    // The work before a task that ended waits.
    struct Release {
        std::uint64_t link;
        std::uint32_t work = 0;  // number of the task in its stream, plus 1; 0: none found
        std::uint32_t name = 0;
        std::uint32_t object = 0;
    };
    std::vector<Wait> waits_;
    std::vector<Release> releases_;                          // sorted by link
    std::unordered_map<std::uint64_t, WaitSummary> others_;  // by stream << 32 | releasing stream; times in ticks
};

}  // namespace canopy::profile
