// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end and keeps what it prints. Used by run-time compilation, by the compiler of fused
// loops and by canopy-cc. Any thread.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

#include "foundation/problem.h"

namespace canopy {

using CommandLine = std::vector<std::string>;  // program and arguments, without a shell between

struct Finished {
    int status = 0;      // exit status; 128 and the signal's number when it was killed
    std::string output;  // standard output (unless it went into a file) and standard error, in the order written
};

// Ends running programs with everything they started, and keeps others from starting until it is lifted.
class ProcessStop {
public:
    void stop() noexcept;
    void lift() noexcept;
    [[nodiscard]] bool stopped() const noexcept;

private:
    friend class RunningProcess;
    mutable std::mutex mutex_;
    bool stopped_ = false;
    std::vector<pid_t> running_;  // each the leader of a process group; not waited for yet
};

struct ProcessOptions {
    ProcessStop* stop = nullptr;   // may end it
    std::string temporary_folder;  // TMPDIR of the program and of those it starts; empty: as here
    std::string input = "/dev/null";
    // A file for standard output; "-": that of this process; empty: it is collected together with standard error.
    std::string output;
    // The program and those it starts are killed when this process ends, however it ends: they are a process group,
    // and the kernel kills it when the pipe closes whose other end this process has.
    bool ends_with_caller = true;
};

// A name without a slash is searched in PATH. A problem: the program cannot be started.
Expected<Finished> run_to_end(const CommandLine& command, const ProcessOptions& options = {});

}  // namespace canopy
