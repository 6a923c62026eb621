// SPDX-License-Identifier: Apache-2.0
// Program threads that run the callbacks or host functions of streams, in process_reports. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/device.h"

namespace canopy {

// The two kinds of calls that go to a program thread.
enum class ReportKind : std::uint8_t { callback, host_function };

// A call for a program thread. `done`, if set, lets the stream continue.
struct ReportedCall {
    Handle stream;
    std::optional<std::uint64_t> thread;  // thread that must run it; unset: the one subscribed when its turn comes
    CallWork call;
    void (*done)(void*);
    void* token;
    bool recorded = false;  // part of a graph: it goes to its thread even if the stream is gone
};
// Drops the call; its stream continues.
void give_up(const ReportedCall& call) noexcept;

// A stream to subscribe: from then on the host functions in its queue go to `router`.
struct Subscriber {
    Handle stream;
    std::int32_t id;
    Queue* queue;
    CallRouter* router;
};
// 107011 if the stream already has a thread, 107012 if there are too many threads.
Status add_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber);
// 107011 unless the stream is subscribed to that thread.
Status end_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber);
// Removes the subscriptions of a destroyed stream.
void forget_stream(Handle stream) noexcept;

// The thread a stream's calls go to, if any. One load while there are no subscriptions.
std::optional<std::uint64_t> subscribed_thread(ReportKind kind, Handle stream);
// Hands a call to its stream's thread; drops it if there is none or the subscription has moved to another thread.
void deliver(ReportKind kind, const ReportedCall& call) noexcept;

// Runs the calls pending for the calling thread, or waits for one. 107012 for a thread without a subscription, 507012
// if none arrived in time.
Status process_reports(ReportKind kind, std::int32_t timeout_ms);

}  // namespace canopy
