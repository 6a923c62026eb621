// SPDX-License-Identifier: Apache-2.0
// Memory files that several processes map, and who of them is alive. Every process that uses such a file holds a record
// lock of the kernel on one byte of it, the byte with its own number. The kernel drops that lock when the process ends,
// however it ends, and when it executes another program. So anybody who has the file can ask whether a process that
// left its number in it is still there: no message, no thread and no other process is needed.
//
// These locks belong to the process and the file, not to a descriptor, and closing any descriptor of the file drops
// them. A process therefore keeps every descriptor of a shared file that it receives until it is done with the file
// (base/locked_files.h).
//
// Knows nothing of the runtime. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace canopy {

// A random number of 31 bits for the process, never 0.
using ProcessNumber = std::uint32_t;
// Drawn at the first call, and again in a child of fork.
ProcessNumber own_process_number() noexcept;

namespace process_number {
inline std::atomic<ProcessNumber> drawn{0};
}  // namespace process_number
// The same, but 0 before the first call, and in a child of fork.
inline ProcessNumber known_process_number() noexcept { return process_number::drawn.load(std::memory_order_relaxed); }

class SharedMemoryFile {
public:
    SharedMemoryFile() noexcept = default;
    SharedMemoryFile(SharedMemoryFile&& other) noexcept { swap(other); }
    SharedMemoryFile& operator=(SharedMemoryFile&& other) noexcept {
        SharedMemoryFile(std::move(other)).swap(*this);
        return *this;
    }
    ~SharedMemoryFile();

    // False, with errno set, when the system refuses.
    bool create(const char* name, std::size_t size) noexcept;
    // Takes the descriptor over, also when it fails: when the file is not of this size, or can be made smaller.
    bool adopt(int descriptor, std::size_t size) noexcept;

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    // Whether the process with this number uses the file now.
    [[nodiscard]] bool alive(ProcessNumber process) const noexcept;

private:
    bool map(std::size_t size) noexcept;
    void swap(SharedMemoryFile& other) noexcept;

    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
    int descriptor_ = -1;
    ProcessNumber process_ = 0;  // that announced itself through this object
};

}  // namespace canopy
