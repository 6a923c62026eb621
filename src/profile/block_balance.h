// SPDX-License-Identifier: Apache-2.0
// BlockBalance: how evenly the blocks of launches were filled. Looks at all launches, or at an even sample of them when
// there are many.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "profile/figures.h"

namespace canopy::profile {

// The launches of one kernel.
struct KernelBalance {
    double lost = 0;  // ticks that the launches took longer than with equal blocks
    double worst_lost = 0;
    double worst_ratio = 0;  // slowest block by the average one, in the launch that lost most
    std::uint64_t worst_blocks = 0;
    std::uint64_t worst_longest = 0;
    Place worst;
};

class BlockBalance {
public:
    void add(const Record& block, std::uint32_t thread) {
        std::uint64_t key = (block.link ^ std::uint64_t{block.name} << 50) * 0x9E3779B97F4A7C15u;
        key ^= key >> 32;  // the lower bits of the product are those of the task's number
        if ((key & skipped_) != 0) return;
        Launch& launch = launches_[key];
        launch.link = block.link;
        launch.name = static_cast<std::uint32_t>(block.name);
        ++launch.count;
        launch.total += block.duration;
        if (block.duration >= launch.longest) {
            launch.longest = block.duration;
            launch.place = {block.begin, block.begin + block.duration, thread, block.link};
        }
        if (launches_.size() > most_launches) thin_out();
    }

    // By the name of the kernel; `workers` run the blocks.
    [[nodiscard]] std::unordered_map<std::uint32_t, KernelBalance> kernels(std::uint32_t workers) const {
        std::unordered_map<std::uint32_t, KernelBalance> found;
        for (const auto& [key, launch] : launches_) {
            const std::uint64_t at_once = std::min<std::uint64_t>(launch.count, std::max(workers, 1u));
            const double even = static_cast<double>(launch.total) / static_cast<double>(at_once);
            const double lost = static_cast<double>(launch.longest) - even;
            if (launch.count < 2 || lost <= 0) continue;
            KernelBalance& kernel = found[launch.name];
            kernel.lost += lost * static_cast<double>(skipped_ + 1);
            if (lost <= kernel.worst_lost) continue;
            kernel.worst_lost = lost;
            kernel.worst_ratio = static_cast<double>(launch.longest) * static_cast<double>(launch.count) /
                                 static_cast<double>(launch.total);
            kernel.worst_blocks = launch.count;
            kernel.worst_longest = launch.longest;
            kernel.worst = launch.place;
        }
        return found;
    }

private:
    static constexpr std::size_t most_launches = std::size_t{1} << 18;
    struct Launch {
        std::uint64_t link = 0, total = 0, longest = 0, count = 0;
        Place place;
        std::uint32_t name = 0;
    };
    void thin_out() {
        skipped_ = skipped_ * 2 + 1;
        std::erase_if(launches_, [this](const auto& launch) { return (launch.first & skipped_) != 0; });
    }

    std::uint64_t skipped_ = 0;  // launches are kept if these bits of their key are 0
    std::unordered_map<std::uint64_t, Launch> launches_;
};

}  // namespace canopy::profile
