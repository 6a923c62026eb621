// SPDX-License-Identifier: Apache-2.0
// Processes that the runtime starts to run kernels in, and the messages to and from them. Their programs are part of
// the library; a socket that keeps message boundaries connects the two.
//
// Threads: any.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <initializer_list>
#include <string>

#include "foundation/code_file.h"

namespace canopy {

// Starts the program; its arguments are the numbers of the descriptors, which it inherits and no others. Returns -1 and
// sets errno if it cannot be started.
pid_t start_helper(const CodeFile& program, std::string name, std::initializer_list<int> descriptors);
// Waits for its end and returns the status of waitpid.
int wait_for_helper(pid_t process) noexcept;

// Sends a message with the bytes after it, and a descriptor unless it is -1. False: the other side is gone.
bool send_message(int socket, const void* message, std::size_t size, const void* bytes, std::size_t count,
                  int descriptor) noexcept;
// Receives a message of exactly `size` bytes and up to `room` bytes after it. False: the other side is gone.
bool receive_message(int socket, void* message, std::size_t size, void* bytes, std::size_t room, std::size_t& count,
                     int* descriptor) noexcept;

}  // namespace canopy
