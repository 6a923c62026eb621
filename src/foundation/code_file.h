// SPDX-License-Identifier: Apache-2.0
// CodeFile: a shared object in an unnamed, sealed memory file, from where the dynamic loader opens it. Its path
// contains the number of this process and of the open file, so no two loaded objects can be taken for each other. The
// loader may keep an object that was closed (DF_1_NODELETE, symbols that are unique in a process, destructors of
// threads that wait in it): its file then stays open for ever, and nothing else is opened under its path.
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

    // `name` is what /proc shows, up to 249 bytes of it.
    static Expected<CodeFile> create(const std::string& name, std::span<const std::byte> content);

    [[nodiscard]] std::string path() const;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    // Loads it with these flags of dlopen until the file is destroyed; nullptr: dlerror tells why not. Only once.
    void* load(int flags);
    // The same, isolated from the rest of the process: it binds to its own symbols, and they are private.
    void* load_apart();
    // The handle of dlopen; nullptr: not loaded.
    [[nodiscard]] void* library() const noexcept { return library_; }
    // Leaves the code where it is for ever.
    void keep_open() noexcept {
        descriptor_ = -1;
        library_ = nullptr;
    }

private:
    Problem write_all(std::span<const std::byte> content) const;
    int descriptor_ = -1;
    void* library_ = nullptr;
};

// Why the last function of the loader failed in this thread.
const char* loader_message() noexcept;

}  // namespace canopy
