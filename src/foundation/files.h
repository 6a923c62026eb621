// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files, and temporary folders. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/problem.h"

namespace canopy {

// All return false, with errno set, if the file system refuses.
bool read_file(const std::string& path, std::string& content);
bool read_file(const std::string& path, std::vector<std::byte>& content);
// Replaces the file atomically.
bool write_file(const std::string& path, std::string_view content);

// A folder that only this user can read, in TMPDIR or /tmp. The destructor removes it and its contents.
class TemporaryFolder {
public:
    static Expected<TemporaryFolder> create(std::string_view purpose);
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Leaves the folder to another process.
    void keep() noexcept { path_.clear(); }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace canopy
