// SPDX-License-Identifier: Apache-2.0
// CodeFile: a shared object in an unnamed, sealed memory file, from where the dynamic loader opens it. Its path names
// this process and stays its own as long as the file is open: no two loaded objects can be taken for each other.
//
// Threads: moved and destroyed by one thread at a time; the path may be read from any.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace canopy {

class CodeFile {
public:
    CodeFile() noexcept = default;
    CodeFile(CodeFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    CodeFile& operator=(CodeFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~CodeFile();

    // `name` is what /proc shows, up to 249 bytes of it. 107000 when the system refuses.
    static Result<CodeFile> create(const std::string& name, std::span<const std::byte> content);

    [[nodiscard]] std::string path() const;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    // Leaves the file open for ever: its code could not be unloaded.
    void keep_open() noexcept { descriptor_ = -1; }

private:
    Status write_all(std::span<const std::byte> content) const;
    int descriptor_ = -1;
};

}  // namespace canopy
