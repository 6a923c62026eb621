// SPDX-License-Identifier: Apache-2.0
// Subscriptions: a graph that is replayed sends a record for each of its tasks through a pipe. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// `pipe`: its write end. 100000 if it is not open.
Result<Handle> create_subscription(bool with_times, std::uint32_t metrics, int pipe);
Status destroy_subscription(const void* config);
// 100011 without such a graph, 148046 if it is subscribed.
Status subscribe_model(std::uint32_t model, const void* config);
// Sends what has been recorded and closes the write end. A reader that takes nothing for a second loses the rest.
Status unsubscribe_model(std::uint32_t model);

}  // namespace canopy
