// SPDX-License-Identifier: Apache-2.0
// Running other programs, and files that go away again.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace canopy_cc {

using Command = std::vector<std::string>;  // program and arguments, no shell between

// Starts a program whose standard input is `input` (a file). Returns its process id, or -1.
pid_t start(const Command& command, const std::string& input);
// Its exit status; 128 and the signal's number when it was killed.
int wait_for(pid_t process);
// Runs a program to its end and collects its standard output.
int run_and_read(const Command& command, std::string& output);

std::string quoted(const Command& command);

// A directory of this run, removed with everything in it.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }  // empty when it could not be made

private:
    std::string path_;
};

// Both return false, with errno set, when the file system refuses.
bool read_file(const std::string& path, std::string& content);
// Replaces the file in one step: nobody sees half of it.
bool write_file(const std::string& path, const std::string& content);

}  // namespace canopy_cc
