// SPDX-License-Identifier: Apache-2.0
// Processes that the runtime starts to run kernels in. Their programs are part of the library; a local socket
// (local_socket.h) connects the two.
//
// Threads: any.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <string>

#include "foundation/code_file.h"

namespace canopy {

// Starts the program; its arguments are the numbers of the descriptors, which it inherits and no others. Returns -1 and
// sets errno if it cannot be started.
pid_t start_helper(const CodeFile& program, std::string name, std::initializer_list<int> descriptors);
// In such a process that runs CPU kernels: it acts for the process that started it.
void set_runs_cpu_kernels() noexcept;
[[nodiscard]] bool runs_cpu_kernels() noexcept;
// Waits for its end and returns the status of waitpid.
int wait_for_helper(pid_t process) noexcept;

}  // namespace canopy
