// SPDX-License-Identifier: Apache-2.0
// The keys of tokens in Order: of flags by event and id, of the buffers of queues by their address.
#pragma once

#include <cstdint>

#include "check/sync/event_ids.h"

namespace canopy::check {

constexpr std::uint64_t flag_key(PipePair event, unsigned id) {
    return std::uint64_t{1} << 62 | static_cast<std::uint64_t>(event.from) << 16 |
           static_cast<std::uint64_t>(event.to) << 8 | id;
}

// Two for each buffer: that it is filled, and that it is free again. Buffers begin at multiples of 32.
constexpr std::uint64_t filled_key(std::uint64_t buffer) { return std::uint64_t{2} << 62 | buffer << 1; }
constexpr std::uint64_t free_key(std::uint64_t buffer) { return filled_key(buffer) | 1; }

}  // namespace canopy::check
