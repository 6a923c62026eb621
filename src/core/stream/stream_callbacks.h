// SPDX-License-Identifier: Apache-2.0
// Host functions and callbacks in streams, and the threads that streams have chosen for them. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/stream/subscriptions.h"

namespace canopy {

// From now on that thread runs the stream's calls of that kind, inside process_reports. 107011 when the stream has one.
Status subscribe(ReportKind kind, std::uint64_t thread, const void* stream);
// Calls launched since and not run yet are given up, wherever they are on their way; their streams go on.
Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* stream);

using HostFunction = void (*)(void*);
// Runs on the thread subscribed to the stream (107015 without one); `block`: later tasks wait for it.
Status launch_callback(HostFunction function, void* argument, bool block, const void* stream);
// Runs on a thread of the runtime, or on the one subscribed for host functions; later tasks wait for it.
Status launch_host_function(HostFunction function, void* argument, const void* stream);

}  // namespace canopy
