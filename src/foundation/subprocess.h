// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end and captures its output. Used by run-time compilation, by the compiler of fused loops
// and by canopy-cc. Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "foundation/mutex.h"
#include "foundation/problem.h"

namespace canopy {

using CommandLine = std::vector<std::string>;  // program and arguments; no shell involved

struct Finished {
    int status = 0;      // exit status; 128 plus the signal number if it was killed
    std::string output;  // standard output (unless sent to a file) and standard error, in the order written
};

// Kills running programs with everything they started, and prevents new ones from starting until it is lifted.
class ProcessStop {
public:
    void stop() noexcept;
    void lift() noexcept;
    [[nodiscard]] bool stopped() const noexcept;

private:
    friend class RunningProcess;
    mutable Mutex mutex_;
    bool stopped_ CANOPY_GUARDED_BY(mutex_) = false;
    std::vector<pid_t> running_ CANOPY_GUARDED_BY(mutex_);  // leaders of process groups, not yet reaped
};

struct ProcessOptions {
    ProcessStop* stop = nullptr;   // may kill the program
    std::string temporary_folder;  // TMPDIR of the program and its children; empty: inherited
    std::string input = "/dev/null";
    // File for standard output; "-": this process's own; empty: captured together with standard error.
    std::string output;
    // The program and its children are killed when this process ends, however it ends: they form a process group, which
    // the kernel kills when this process's end of a pipe closes.
    bool ends_with_caller = true;
};

// A name without a slash is looked up in PATH. Returns a problem if the program cannot be started.
Expected<Finished> run_to_end(const CommandLine& command, const ProcessOptions& options = {});

}  // namespace canopy
