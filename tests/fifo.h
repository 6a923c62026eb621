// SPDX-License-Identifier: Apache-2.0
// Reads what another process writes into a named pipe, with a time limit: opening it as a file would block for ever if
// that process never gets there.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "until.h"

// The first line, or what had come when the time was over.
inline std::string line_from_fifo(const std::string& path) {
    std::string line;
    const int pipe = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool complete = pipe >= 0 && eventually([&] {
                              char next = 0;
                              while (read(pipe, &next, 1) == 1) {
                                  if (next == '\n') return true;
                                  line += next;
                              }
                              return false;
                          });
    if (pipe >= 0) close(pipe);
    return complete ? line : line + " (no end of line)";
}
