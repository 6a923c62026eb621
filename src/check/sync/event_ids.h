// SPDX-License-Identifier: Apache-2.0
// Which ids of flags are in use, counted as a chip counts them: queues and AllocEventID share the ids of an event.
#pragma once

#include <canopy/kernel_check.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "check/model/core.h"

namespace canopy::check {

struct PipePair {
    std::uint8_t from = 0, to = 0;
    bool operator==(const PipePair&) const = default;
};

// "MTE2_V".
inline std::string event_name(unsigned from, unsigned to) {
    return std::string(short_pipe_name(from)) + "_" + short_pipe_name(to);
}
inline std::string event_name(PipePair event) { return event_name(event.from, event.to); }

// Reports what breaks a rule of section "sync"; nothing if these are not asked for.
inline void report_sync(Core& core, Level level, const char* id, const char* headline, std::string text,
                        std::string missing, std::initializer_list<Reports::Side> sides) {
    if (core.launch.options.classes.sync)
        core.launch.reports.add(level, id, nullptr, -1, headline, std::move(text), std::move(missing), sides);
}

class EventIds {
public:
    explicit EventIds(Core& core);

    // A queue takes one of the event's ids. Images number ids without those that queues hold, so these are only
    // counted; reports when none is left.
    void take(PipePair event, const CanopyCheckSite& site);
    void give_back(PipePair event);
    // AllocEventID and its like.
    void event_id(std::uint32_t event, PipePair pair, std::int32_t id, const CanopyCheckSite& site);
    // All ids of queues and of the program are free again.
    void reset();
    // TPipe keeps the first ids of M_MTE1 on cube cores of A2 and A3.
    void pipe_begins();

    // Whether a queue would hold that id now, and the program was not given it.
    [[nodiscard]] bool belongs_to_queue(PipePair event, unsigned id) const;
    [[nodiscard]] unsigned limit() const { return limit_; }

private:
    struct Pool {
        std::uint16_t allocated = 0;  // by AllocEventID
        std::uint16_t given = 0;      // ever, by AllocEventID and FetchEventID
        std::uint16_t held = 0;       // by queues
        CanopyCheckSite first{};      // AllocEventID of the oldest that is not released
    };

    Pool& pool(PipePair event) { return pools_[event.from][event.to]; }
    void report(PipePair event, const Pool& pool, const CanopyCheckSite& site);

    Core& core_;
    unsigned limit_;
    std::array<std::array<Pool, CANOPY_CHECK_PIPES>, CANOPY_CHECK_PIPES> pools_{};
};

}  // namespace canopy::check
