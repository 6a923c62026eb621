// SPDX-License-Identifier: Apache-2.0
#include "core/graph/replay_notes.h"

#include <unordered_map>

#include "base/process_state.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// Older replays than these have ended and been told; links repeat when the numbers of a stream's tasks do.
constexpr std::size_t most_notes = std::size_t{1} << 18;

struct Notes {
    Mutex mutex;
    std::unordered_map<std::uint64_t, std::uint32_t> newer CANOPY_GUARDED_BY(mutex);
    std::unordered_map<std::uint64_t, std::uint32_t> older CANOPY_GUARDED_BY(mutex);
};

Notes& notes() { return process_state<Notes>(); }

}  // namespace

void note_replay(std::uint64_t link, std::uint32_t graph) {
    Notes& all = notes();
    MutexLock guard(all.mutex);
    if (all.newer.size() >= most_notes) {
        all.older = std::move(all.newer);
        all.newer.clear();
    }
    all.newer[link] = graph;
}

std::optional<std::uint32_t> graph_of_replay(std::uint64_t link) {
    Notes& all = notes();
    MutexLock guard(all.mutex);
    if (const auto found = all.newer.find(link); found != all.newer.end()) return found->second;
    if (const auto found = all.older.find(link); found != all.older.end()) return found->second;
    return std::nullopt;
}

void forget_replays() {
    Notes& all = notes();
    MutexLock guard(all.mutex);
    all.newer.clear();
    all.older.clear();
}

}  // namespace canopy
