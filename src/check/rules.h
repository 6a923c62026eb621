// SPDX-License-Identifier: Apache-2.0
// The rules of one core besides the order of its accesses: flags, queues and mutexes, where operands may be, bytes that
// nobody wrote, the scalar data cache. Applies what flags, queues and mutexes order to the core's clocks.
#pragma once

#include <optional>

#include "check/memory/allocations.h"
#include "check/memory/cache.h"
#include "check/memory/cache_lines.h"
#include "check/memory/init.h"
#include "check/memory/memory.h"
#include "check/model/core.h"
#include "check/sync/buffers.h"
#include "check/sync/event_ids.h"
#include "check/sync/flags.h"
#include "check/sync/meetings.h"
#include "check/sync/mutexes.h"
#include "check/sync/queues.h"

namespace canopy::check {

// What the cores of a launch share of them.
struct LaunchRules {
    explicit LaunchRules(Launch& launch) : meetings(launch), cache_lines(launch) {}
    // All cores have ended.
    void end() {
        meetings.end();
        cache_lines.end();
    }

    Meetings meetings;
    CacheLines cache_lines;
};

class Rules {
public:
    Rules(Core& core, LaunchRules& launch_rules);

    // Before the accesses are compared with others.
    void operation(const Told& told);
    void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, const CanopyCheckSite& site) {
        flags_.flag(set, from, to, id, queues_.pipe_seen(), site);
    }
    void buffer(const CanopyCheckBuffer& event);
    // Where the buffer or the placed tensor of a core's memory ends that contains an address; 0: there is none.
    std::uint64_t end_of_buffer(std::uint64_t address) { return buffers_.end_of(address); }
    void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                  const CanopyCheckSite& site) {
        ids_.event_id(event, {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to)}, id, site);
    }
    void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) {
        mutexes_.mutex(lock, pipe, id, site);
    }
    // dcci, and DataSyncBarrier.
    void cache(std::uint32_t event, const void* address) {
        if (core_.launch.options.classes.cache) cache_.clean(event, address);
    }
    void data_barrier(std::uint32_t kind) { cache_.data_barrier(kind); }
    // Before a set and after a wait; before and after a meeting.
    void core_flag(bool set, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site);
    void meet(std::uint32_t kind, std::uint32_t scope, bool begin, const CanopyCheckSite& site);
    void misuse(const char* id, const char* text, const CanopyCheckSite& site);
    // The block has returned, or was ended.
    void end(bool complete);

private:
    void check_completion();

    Core& core_;
    LaunchRules& launch_;
    Allocations allocations_;
    Buffers buffers_;
    EventIds ids_;
    Flags flags_;
    Queues queues_;
    Mutexes mutexes_;
    Memory memory_;
    std::optional<Init> init_;
    ScalarCache cache_;
};

}  // namespace canopy::check
