// SPDX-License-Identifier: Apache-2.0
// TraceArrows: which arrows a trace has. An arrow has both its ends or is not drawn, so the ends are collected before
// anything is written.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profile/details.h"
#include "profile/link_set.h"
#include "profile/words.h"

namespace canopy::profile {

class TraceArrows {
public:
    // From a task that ended waits to one of them.
    struct Wait {
        std::uint64_t from, to;
        bool begun = false, ended = false;
        friend bool operator<(const Wait& a, const Wait& b) noexcept {
            return a.from != b.from ? a.from < b.from : a.to < b.to;
        }
    };

    explicit TraceArrows(ProfileFile& file) {
        visit_detailed(file, [this](const Thread&, const Detailed& one) { collect(one); });
        launches_.intersect(tasks_);
        launches_.number();
        marks_.intersect(device_marks_);
        marks_.number();
        std::erase_if(waits_, [this](const Wait& wait) { return !tasks_.has(wait.from); });
        std::sort(waits_.begin(), waits_.end());
        const auto same = [](const Wait& a, const Wait& b) { return a.from == b.from && a.to == b.to; };
        waits_.erase(std::unique(waits_.begin(), waits_.end(), same), waits_.end());
    }

    // The number of the arrow from a call to this task, the same for both ends; 0 if there is none.
    [[nodiscard]] std::uint64_t launch(std::uint64_t link) const { return launches_.number_of(link); }
    // Whether this end is met for the first time: calls inside calls submit the same task.
    bool first_call(std::uint64_t link) { return calls_met_.add(link); }
    bool first_task(std::uint64_t link) { return tasks_met_.add(link); }

    [[nodiscard]] std::uint64_t mark(std::uint64_t link) const { return marks_.number_of(link); }
    bool first_mark(std::uint64_t link) { return marks_met_.add(link); }
    bool first_device_mark(std::uint64_t link) { return device_marks_met_.add(link); }

    // Calls draw(number) for each arrow that leaves this task.
    template <class Draw>
    void leaving(std::uint64_t link, Draw&& draw) {
        auto wait = std::lower_bound(waits_.begin(), waits_.end(), Wait{link, 0});
        for (; wait != waits_.end() && wait->from == link; ++wait) {
            if (wait->begun) continue;
            wait->begun = true;
            draw(static_cast<std::uint64_t>(wait - waits_.begin()) + 1);
        }
    }
    // The number of the arrow that ends here, 0 if there is none.
    std::uint64_t arriving(std::uint64_t from, std::uint64_t to) {
        const auto wait = std::lower_bound(waits_.begin(), waits_.end(), Wait{from, to});
        if (wait == waits_.end() || wait->from != from || wait->to != to || wait->ended) return 0;
        wait->ended = true;
        return static_cast<std::uint64_t>(wait - waits_.begin()) + 1;
    }

private:
    static constexpr std::size_t most_waits = std::size_t{1} << 20;  // later waits have no arrow

    void collect(const Detailed& one) {
        const Record& record = one.record;
        switch (record.what()) {
            case Kind::call:
                if (record.link != 0) launches_.add(record.link);
                return;
            case Kind::task:
                tasks_.add(record.link);
                if (is_wait(TaskObject::of(record.object).type) && one.get(Detail::released_by) != 0 &&
                    waits_.size() < most_waits)
                    waits_.push_back({one.get(Detail::released_by), record.link});
                return;
            case Kind::mark:
                if (MarkArgument::of(record.argument).on_device)
                    device_marks_.add(record.link);
                else
                    marks_.add(record.link);
                return;
            default:
                return;
        }
    }

    LinkSet launches_, tasks_, calls_met_, tasks_met_;
    LinkSet marks_, device_marks_, marks_met_, device_marks_met_;
    std::vector<Wait> waits_;  // sorted
};

}  // namespace canopy::profile
