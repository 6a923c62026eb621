// SPDX-License-Identifier: Apache-2.0
// Threads of the program that run the callbacks or host functions of streams, inside process_reports. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/backend.h"

namespace canopy {

// The two families of functions that send calls to a thread of the program.
enum class ReportKind : std::uint8_t { callback, host_function };

// A call for a thread of the program. `done`, if any, lets the stream go on.
struct ReportedCall {
    Handle stream;
    std::optional<std::uint64_t> thread;  // whose call it is; unset: of the thread subscribed when its turn comes
    CallWork call;
    void (*done)(void*);
    void* token;
    bool recorded = false;  // part of a graph: it goes to its thread, whatever became of the stream
};
// Drops the call; its stream goes on.
void give_up(const ReportedCall& call) noexcept;

// A stream to subscribe: host functions of its queue go to `router` from then on.
struct Subscriber {
    Handle stream;
    std::int32_t id;
    Queue* queue;
    CallRouter* router;
};
// 107011 when the stream has a thread already, 107012 when there are too many threads.
Status add_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber);
// 107011 unless the stream is subscribed to that thread.
Status end_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber);
// The stream is gone: its subscriptions too.
void forget_stream(Handle stream) noexcept;

// The thread a stream's calls go to, if it has one. Costs one load while there are no subscriptions.
std::optional<std::uint64_t> subscribed_thread(ReportKind kind, Handle stream);
// Hands a call to the thread of its stream; without one, or when it is another thread by now, the call is given up.
void deliver(ReportKind kind, const ReportedCall& call) noexcept;

// Runs what is there for the calling thread, or waits for something. 107012 for a thread without subscription,
// 507012 when nothing came in time.
Status process_reports(ReportKind kind, std::int32_t timeout_ms);

}  // namespace canopy
