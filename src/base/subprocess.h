// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end and keeps what it prints, and makes folders for files in between. Used by run-time
// compilation. Any thread.
#pragma once

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

// Program and arguments, no shell between. Fails with 500000 when it cannot be started.
Result<Finished> run_to_end(const std::vector<std::string>& command);

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
