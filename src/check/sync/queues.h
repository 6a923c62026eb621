// SPDX-License-Identifier: Apache-2.0
// Queues of TPipe: which flags they set and wait for, and how a program may use them.
#pragma once

#include "check/model/core.h"
#include "check/sync/buffers.h"
#include "check/sync/event_ids.h"

namespace canopy::check {

class Queues {
public:
    Queues(Core& core, Buffers& buffers, EventIds& ids);

    // Memory that the event allocated, as [begin, end) in the addresses of the core; else empty.
    struct Taken {
        std::uint64_t begin = 0, end = 0;
    };
    Taken buffer(const CanopyCheckBuffer& event);
    // The kernel has returned.
    void end();

    // Whether a TPipe lives or has lived.
    [[nodiscard]] bool pipe_seen() const { return pipe_seen_; }

private:
    using Region = Buffers::Region;
    using Buffer = Buffers::Buffer;

    // A buffer of the queue that an event names.
    struct Found {
        Region* region = nullptr;
        std::uint32_t index = 0;
        [[nodiscard]] Buffer& buffer() const { return region->buffers[index]; }
        [[nodiscard]] std::uint64_t address() const { return region->address_of(index); }
    };

    void init(const CanopyCheckBuffer& event);
    Taken allocate(const CanopyCheckBuffer& event);
    void enqueue(const CanopyCheckBuffer& event);
    void dequeue(const CanopyCheckBuffer& event);
    void free(const CanopyCheckBuffer& event);
    void free_events(Region& region, const CanopyCheckSite& site);
    void give_up(bool destroyed, const CanopyCheckSite& site);
    void wait_free(Region& region, std::uint32_t index, const CanopyCheckSite& site);
    void report_left(bool destroyed);

    Found find(const CanopyCheckBuffer& event, const char* call);
    [[nodiscard]] PipePair filled_event(std::uint8_t source, std::uint8_t destination) const;
    [[nodiscard]] PipePair filled_event(const CanopyCheckBuffer& event, const Region& region) const;
    void report(const std::string& text, const CanopyCheckSite* earlier, const CanopyCheckSite& site);

    Core& core_;
    Buffers& buffers_;
    EventIds& ids_;
    bool pipe_seen_ = false;
    bool has_ids_;  // else hardware buffer ids, of which there are enough
};

}  // namespace canopy::check
