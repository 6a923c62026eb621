// SPDX-License-Identifier: Apache-2.0
// Callbacks that follow streams, and the threads streams have chosen for their host functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// The numbers of aclrtStreamState.
enum class StreamStage : std::int32_t { created = 1, destroying = 2 };
using StreamStateFunction = void (*)(void* stream, std::int32_t stage, void* argument);

// A null function takes the name out; a name that is already there is refused with 107000.
Status register_stream_state_callback(std::string_view name, StreamStateFunction function, void* argument);
void notify_stream_state(Handle stream, StreamStage stage) noexcept;

// The two families of functions that send callbacks to a thread of the program.
enum class ReportKind : std::uint8_t { callback, host_function };

// From now on that thread runs the stream's calls of that kind, inside process_reports. 107011 when the stream has one.
Status subscribe(ReportKind kind, std::uint64_t thread, const void* stream);
// Calls launched since and not run yet are given up, wherever they are on their way; their streams go on.
Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* stream);
// Runs what is there for the calling thread, or waits for something. 107012 for a thread nobody subscribed,
// 507012 when nothing came in time.
Status process_reports(ReportKind kind, std::int32_t timeout_ms);

using HostFunction = void (*)(void*);
// Runs on the thread subscribed to the stream (107015 without one); `block`: later tasks wait for it.
Status launch_callback(HostFunction function, void* argument, bool block, const void* stream);
// Runs on a thread of the runtime, or on the one subscribed for host functions; later tasks wait for it.
Status launch_host_function(HostFunction function, void* argument, const void* stream);

// The stream is gone: its subscriptions too.
void forget_stream(Handle stream) noexcept;

}  // namespace canopy
