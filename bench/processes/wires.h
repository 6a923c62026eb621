// SPDX-License-Identifier: Apache-2.0
// Ways for messages between two processes: Canopy's queues and what else a program would use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "processes/partner.h"

namespace bench {

enum class Wire : std::uint32_t {
    line,          // one word in a cache line: what the hardware needs
    queue,         // EnqueueData and DequeueData: a copy in, a copy out
    memory,        // shared memory by hand: a memcpy in, a memcpy out
    buffer,        // a buffer for each message, allocated by the sender, freed by the receiver
    pipe,          // blocking
    pipe_polled,   // a receiver that never sleeps
    socket,        // Unix stream socket, blocking
    boost,         // Boost.Interprocess message_queue, blocking
    boost_polled,  // a receiver that never sleeps
    zero_mq,       // a pair of sockets over ipc
    count_of_wires,
};

const char* name_of(Wire wire);

// Messages of Boost and ZeroMQ have at most this size.
inline constexpr std::size_t short_message = 64;
inline constexpr std::uint32_t queue_depth = 1024;

// The leader opens its end first. nullptr if the wire's library is not installed.
std::unique_ptr<Connection> open_wire(Wire wire, Side side, Control& control, const Descriptors& descriptors);

// The leader's queues, there and back; the partner attaches them.
void create_queues(Control& control, pid_t partner);
void attach_queues(const Control& control);

}  // namespace bench
