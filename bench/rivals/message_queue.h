// SPDX-License-Identifier: Apache-2.0
// Boost.Interprocess's message_queue, one for each direction.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "processes/connection.h"

namespace bench {

// polled: the receiver never sleeps.
std::unique_ptr<Connection> open_message_queues(pid_t leader, Side side, std::size_t size, std::uint32_t depth,
                                                bool polled);

}  // namespace bench
