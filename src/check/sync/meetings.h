// SPDX-License-Identifier: Apache-2.0
// Flags between cores and meetings of many, as far as they may be used at all: counters, who arrives how often, which
// kernels and how many blocks. What they order is for others. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/model/core.h"
#include "foundation/mutex.h"

namespace canopy::check {

class Meetings {
public:
    explicit Meetings(Launch& launch) : launch_(launch) {}

    // Before a set, after a wait. Modes and ids as in canopy/kernel_abi.h.
    void flag(Core& core, bool set, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site);
    // Before and after a meeting; `kind` is a CanopyCheckMeeting, `scope` a CanopySyncScope.
    void meet(Core& core, std::uint32_t kind, std::uint32_t scope, bool begin, const CanopyCheckSite& site);
    void core_ended(const Core& core, bool complete);
    // All cores have ended.
    void end();

private:
    static constexpr unsigned scope_count = 4;

    // What one core has done.
    struct Member {
        const Core* core = nullptr;
        bool ended = false, complete = false;
        struct Met {
            std::uint64_t times = 0;
            bool waits = false;
            CanopyCheckSite last{};
        };
        std::array<std::array<Met, scope_count>, 2> met{};  // by kind and scope
    };
    // A counter of one core.
    struct Counter {
        std::uint32_t value = 0;
        std::uint8_t mode = 0;
        const Core* setter = nullptr;  // the last one
        CanopyCheckSite site{};
    };
    // Flags that are delivered when each of several cores has set them.
    struct Gathering {
        std::unordered_map<std::uint32_t, std::uint32_t> sent;  // by core, not delivered yet
        const Core* setter = nullptr;
        CanopyCheckSite site{};
    };

    Member& member(Core& core) CANOPY_REQUIRES(mutex_);
    void check_use(Core& core, const char* what, bool hardware, bool all_blocks, const CanopyCheckSite& site);
    void deliver(Core& core, std::uint32_t receiver, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site)
        CANOPY_REQUIRES(mutex_);
    void gather(Core& core, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site) CANOPY_REQUIRES(mutex_);
    void check_reserved() CANOPY_REQUIRES(mutex_);
    void report_counters() CANOPY_REQUIRES(mutex_);
    void report_arrivals(std::uint32_t kind, std::uint32_t scope) CANOPY_REQUIRES(mutex_);
    void compare(const std::vector<const Member*>& members, std::uint32_t kind, std::uint32_t scope);
    [[nodiscard]] std::string name_of(std::uint32_t core) const;

    Launch& launch_;
    Mutex mutex_;
    std::unordered_map<std::uint32_t, Member> members_ CANOPY_GUARDED_BY(mutex_);  // by core
    std::unordered_map<std::uint64_t, Counter> counters_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, Gathering> gatherings_ CANOPY_GUARDED_BY(mutex_);
    // Where the flags of meetings are used: by a meeting, and by the program.
    Reports::Side meeting_ CANOPY_GUARDED_BY(mutex_), own_use_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::check
