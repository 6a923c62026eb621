// SPDX-License-Identifier: Apache-2.0
// CodeFile: a shared object in an unnamed, sealed memory file, opened from there by the dynamic loader. Its path
// contains the process id and the file descriptor, so no two loaded objects can be confused. The loader may keep an
// object after it is closed (DF_1_NODELETE, STB_GNU_UNIQUE symbols, pending thread destructors): then its file stays
// open for ever, and nothing else is opened under its path.
//
// Threads: moved, opened and destroyed by one thread at a time; the rest from any.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "foundation/problem.h"

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

    // /proc shows the first 249 bytes of `name`.
    static Expected<CodeFile> create(const std::string& name, std::span<const std::byte> content);

    [[nodiscard]] std::string path() const;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    // Loads it with these dlopen flags until the file is destroyed; nullptr: see dlerror. Call once.
    void* load(int flags);
    // The same, isolated from the rest of the process: it binds to its own symbols first, and they are private.
    void* load_apart();
    // The dlopen handle; nullptr if not loaded.
    [[nodiscard]] void* library() const noexcept { return library_; }
    // Leaves the code loaded for ever.
    void keep_open() noexcept {
        descriptor_ = -1;
        library_ = nullptr;
    }

private:
    Problem write_all(std::span<const std::byte> content) const;
    int descriptor_ = -1;
    void* library_ = nullptr;
};

// Why the last dynamic loader call failed in this thread.
const char* loader_message() noexcept;

}  // namespace canopy
