// SPDX-License-Identifier: Apache-2.0
// ZeroMQ: a pair of sockets over its ipc transport.
#pragma once

#include <sys/types.h>

#include <memory>

#include "processes/connection.h"

namespace bench {

// nullptr if ZeroMQ is not installed.
std::unique_ptr<Connection> open_zero_mq(pid_t leader, Side side);

}  // namespace bench
