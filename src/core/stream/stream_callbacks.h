// SPDX-License-Identifier: Apache-2.0
// Host functions and callbacks in streams, and subscribing program threads to run them. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/stream/subscriptions.h"

namespace canopy {

// From now on that thread runs the stream's calls of that kind, in process_reports. 107011 if the stream has a thread.
Status subscribe(ReportKind kind, std::uint64_t thread, const void* stream);
// Drops the calls launched since then that have not run yet, wherever they are queued; their streams continue.
Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* stream);

using HostFunction = void (*)(void*);
// Runs on the thread subscribed to the stream (107015 without one). `block`: later tasks wait for it.
Status launch_callback(HostFunction function, void* argument, bool block, const void* stream);
// Runs on a runtime thread, or on the thread subscribed to host functions; later tasks wait for it.
Status launch_host_function(HostFunction function, void* argument, const void* stream);

}  // namespace canopy
