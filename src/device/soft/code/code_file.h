// SPDX-License-Identifier: Apache-2.0
// CodeFile: a shared object in an unnamed, sealed memory file, from where the dynamic loader opens it. Its path names
// this process and stays its own as long as the file is open: no two loaded objects can be taken for each other. The
// loader may keep an object that was closed (DF_1_NODELETE, symbols that are one in a process, destructors of threads
// that wait in it): its file stays open then, for ever, and nothing else is ever opened under its path.
//
// Threads: moved, opened and destroyed by one thread at a time; the rest from any.
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
    CodeFile(CodeFile&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), library_(std::exchange(other.library_, nullptr)) {}
    CodeFile& operator=(CodeFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(library_, other.library_);
        return *this;
    }
    ~CodeFile();

    // `name` is what /proc shows, up to 249 bytes of it. 107000 when the system refuses.
    static Result<CodeFile> create(const std::string& name, std::span<const std::byte> content);

    [[nodiscard]] std::string path() const;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    // Loads it with these flags of dlopen until the file goes; nullptr: dlerror tells why not. Only once.
    void* load(int flags);
    // What it was loaded as; nullptr: it is not.
    [[nodiscard]] void* library() const noexcept { return library_; }

private:
    Status write_all(std::span<const std::byte> content) const;
    int descriptor_ = -1;
    void* library_ = nullptr;
};

}  // namespace canopy
