// SPDX-License-Identifier: Apache-2.0
// Checks for calls that a capture forbids: anything that waits for, queries or changes what is being captured. Each
// check is one load while nothing is captured. The rules are in core/graph/capture, called through a table that is
// defined in core/lifecycle/hooks.cpp. Checks made with a stream's lock held are in stream.h.
//
// Threads: any thread.
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
    copy,           // copies or sets memory before returning
    blocking_copy,  // a stream copy that waits for pageable memory
    default_stream  // work on a default stream
};

// Called only during captures.
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

// For calls that a capture's mode may forbid: 107030, 107041 or 107031.
inline Status check_unsafe(UnsafeCall call, const Stream* stream = nullptr) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_unsafe(call, stream);
}
// For calls that wait for a device or context: 107027.
inline Status check_synchronise() {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_synchronise();
}
// For calls that wait for, query or change a stream: 107027 while it is captured; 107031 for a default stream that a
// capture forbids. The caller must not hold the stream's lock.
inline Status check_stream_free(Stream& stream) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_stream(stream);
}
// For calls that wait for or query an event: 107028 while its last record is part of a capture.
inline Status check_event_free(Event& event) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_event(event);
}
// Frees captures whose first stream has been destroyed. Call without holding any lock.
inline void drop_ownerless_captures() noexcept {
    if (capturing()) capture_rules.drop_ownerless();
}
// Call when a graph is destroyed that may be under capture.
inline void end_capture_of(const Graph& graph) noexcept {
    if (capturing()) capture_rules.graph_ended(graph);
}

}  // namespace canopy
