// SPDX-License-Identifier: Apache-2.0
// Calls that a capture forbids: everything that waits for, looks at or changes what is being captured. Each check is
// one load while nothing is captured. The rules themselves are in core/graph/capture, reached through a table that is
// a constant of core/lifecycle/hooks.cpp. Checks with a stream's lock held are in stream.h.
//
// Threads: everything from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"

namespace canopy {

class Event;
class Graph;
class Stream;

inline std::atomic<std::uint32_t> captures_under_way{0};
[[nodiscard]] inline bool capturing() noexcept { return captures_under_way.load(std::memory_order_relaxed) != 0; }

enum class UnsafeCall : std::uint8_t {
    copy,           // copies or sets memory before it returns
    blocking_copy,  // a copy of a stream that waits for pageable memory
    default_stream  // work in a default stream
};

// Only called while something is captured.
struct CaptureRules {
    Status (*refuse_unsafe)(UnsafeCall call, const Stream* stream);
    Status (*refuse_synchronise)();
    Status (*refuse_stream)(Stream& stream);
    Status (*refuse_locked_stream)(Stream& stream);
    Status (*refuse_event)(Event& event);
    Status (*refuse_blocking_copy)(Stream& stream);
    Status (*join)(Stream& stream, Event& event);
    void (*drop_ownerless)() noexcept;
    void (*graph_ended)(const Graph& graph) noexcept;
};
extern const CaptureRules capture_rules;

// For calls that the mode of a capture may forbid: 107030, 107041 or 107031.
inline Status check_unsafe(UnsafeCall call, const Stream* stream = nullptr) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_unsafe(call, stream);
}
// For calls that wait for a device or a context: 107027.
inline Status check_synchronise() {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_synchronise();
}
// For calls that wait for, look at or change a stream: 107027 while it is captured; 107031 for a default stream that a
// capture forbids. The caller does not hold the stream's lock.
inline Status check_stream_free(Stream& stream) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_stream(stream);
}
// For calls that wait for an event or look at it: 107028 while its last record is part of a capture.
inline Status check_event_free(Event& event) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_event(event);
}
// Frees captures whose first stream has ended. Without any lock held.
inline void drop_ownerless_captures() noexcept {
    if (capturing()) capture_rules.drop_ownerless();
}
// The graph ends while it may be captured.
inline void end_capture_of(const Graph& graph) noexcept {
    if (capturing()) capture_rules.graph_ended(graph);
}

}  // namespace canopy
