// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end and keeps what it prints, and makes folders for files in between. Used by run-time
// compilation and by the compiler of fused loops. Any thread.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace canopy {

struct Finished {
    int status = 0;      // exit status; 128 and the signal's number when it was killed
    std::string output;  // standard output and standard error, in the order written
};

// Ends programs that run, with all they have started, and keeps others from starting until it is lifted.
class ProcessStop {
public:
    void stop() noexcept;
    void lift() noexcept;
    [[nodiscard]] bool stopped() const noexcept;

private:
    friend class RunningProcess;
    mutable std::mutex mutex_;
    bool stopped_ = false;
    std::vector<pid_t> running_;  // each the leader of a group of processes; not waited for yet
};

struct ProcessOptions {
    ProcessStop* stop = nullptr;   // may end it: it then gets a group of processes of its own
    std::string temporary_folder;  // what it and those it starts have as TMPDIR; empty: as it is here
};

// Program and arguments, no shell between. Fails with 500000 when it cannot be started.
Result<Finished> run_to_end(const std::vector<std::string>& command, const ProcessOptions& options = {});

// A folder only this process may read, removed with everything in it.
class TemporaryFolder {
public:
    static Result<TemporaryFolder> create(std::string_view purpose);
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace canopy
