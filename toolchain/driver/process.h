// SPDX-License-Identifier: Apache-2.0
// Running other programs, and files that go away again.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace canopy_cc {

using Command = std::vector<std::string>;  // program and arguments, no shell between

// Runs a program to its end: standard input from a file, standard output into one (empty: the caller's), and what it
// writes to standard error into `messages`. May be called from several threads at once.
int run_with_files(const Command& command, const std::string& input, const std::string& output, std::string& messages);
// Becomes the program; returns only when that fails.
void become(const Command& command);

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
