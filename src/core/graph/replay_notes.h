// SPDX-License-Identifier: Apache-2.0
// Which graph a replay belongs to, while somebody asks for it (a subscription of profiling). Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace canopy {

inline std::atomic<bool> replays_are_noted{false};

// The replay is the task with this link (profile/record.h). Called before it is submitted, while `replays_are_noted`.
void note_replay(std::uint64_t link, std::uint32_t graph);
// The graph of that replay, if it was noted.
std::optional<std::uint32_t> graph_of_replay(std::uint64_t link);
void forget_replays();

}  // namespace canopy
