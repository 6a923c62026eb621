// SPDX-License-Identifier: Apache-2.0
// Owners of system resources: an address range (Mapping) and an unnamed memory file (MemoryFile), used by heaps, the
// virtual memory of the software NPU and sparse tables. An owner is moved and destroyed by one thread at a time;
// everything else may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace canopy {

enum class Access { none, read_write };

[[nodiscard]] std::size_t page_size() noexcept;

constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t power_of_two) noexcept {
    return value & ~(power_of_two - 1);
}
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t power_of_two) noexcept {
    return round_down(value + power_of_two - 1, power_of_two);
}

// True if [offset, +size) is inside a memory file that nobody can shrink, made of pages that the system has when they
// are touched: only then they can be touched whatever another process does.
[[nodiscard]] bool file_holds(int descriptor, std::uint64_t offset, std::uint64_t size) noexcept;

// An address range, unmapped when its owner is destroyed.
class Mapping {
public:
    Mapping() noexcept = default;
    Mapping(Mapping&& other) noexcept { swap(other); }
    Mapping& operator=(Mapping&& other) noexcept {
        Mapping(std::move(other)).swap(*this);
        return *this;
    }
    ~Mapping();

    // Addresses without memory; accessing them faults. The base is a multiple of `alignment` (a power of two). The
    // range is placed at `wanted` if that is free, otherwise anywhere.
    static Result<Mapping> reserve(std::size_t size, std::size_t alignment, std::uintptr_t wanted = 0);
    // Zeroed private memory that costs nothing until it is touched.
    static Result<Mapping> sparse(std::size_t size);

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool contains(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_) < size_;
    }

    // Offsets and sizes below are multiples of the page size. False if the system refuses.
    bool protect(std::size_t offset, std::size_t size, Access access) noexcept;
    // Turns a part back into a bare reservation, whatever was mapped there.
    bool clear(std::size_t offset, std::size_t size) noexcept;

private:
    Mapping(void* base, std::size_t size) noexcept : base_(static_cast<std::byte*>(base)), size_(size) {}
    void swap(Mapping& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(size_, other.size_);
    }

    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
};

// Memory that several mappings, also in other processes, can share. Its size is fixed; pages are allocated on first
// use.
class MemoryFile {
public:
    MemoryFile() noexcept = default;
    MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    MemoryFile& operator=(MemoryFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~MemoryFile();

    static Result<MemoryFile> create(const std::string& name, std::uint64_t size);
    // The file behind a descriptor, which stays the caller's.
    static Result<MemoryFile> copy(int descriptor);

    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t size) const noexcept {
        return file_holds(descriptor_, offset, size);
    }
    // Maps [file_offset, +size) at `offset` of a mapping, replacing any previous mapping. False if the system refuses.
    bool map(Mapping& into, std::size_t offset, std::size_t size, std::uint64_t file_offset, Access access) noexcept;
    // Returns the pages of [offset, +size) to the system; they read as zero afterwards. Partial pages stay.
    void discard(std::uint64_t offset, std::uint64_t size) noexcept;
    // Bytes of pages currently present.
    [[nodiscard]] std::uint64_t resident() const noexcept;

private:
    explicit MemoryFile(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_ = -1;
};

}  // namespace canopy
