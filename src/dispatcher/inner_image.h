// SPDX-License-Identifier: Apache-2.0
// InnerImage: a shared object opened from a sealed memory file of its own, so that nothing it exports meets what others
// export. The dispatcher and the extension kernels keep runtimes in it.
//
// Threads: opened, moved and destroyed by one thread at a time; functions may be looked up from any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

namespace canopy::dispatcher {

using Entry = std::uint32_t (*)(void*);

// A result of canopy/dispatcher_abi.h with its reason.
struct Outcome {
    std::uint32_t result = 0;
    std::string text;
    [[nodiscard]] bool ok() const noexcept { return result == 0; }
};

// What bytes are told apart by: a hash of all of them, and how many there are.
using ContentKey = std::array<std::uint64_t, 3>;
ContentKey content_key(std::span<const std::byte> bytes) noexcept;

class InnerImage {
public:
    InnerImage() noexcept = default;
    InnerImage(InnerImage&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), library_(std::exchange(other.library_, nullptr)) {}
    InnerImage& operator=(InnerImage&& other) noexcept {
        swap(other);
        return *this;
    }
    void swap(InnerImage& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(library_, other.library_);
    }
    ~InnerImage();

    Outcome open(std::span<const std::byte> bytes);
    // The first of these functions that the image has; nullptr when it has none.
    [[nodiscard]] Entry function(std::initializer_list<const char*> names) const noexcept;
    // Leaves the code where it is for ever.
    void keep_open() noexcept {
        descriptor_ = -1;
        library_ = nullptr;
    }

private:
    [[nodiscard]] std::string path() const;

    int descriptor_ = -1;
    void* library_ = nullptr;
};

}  // namespace canopy::dispatcher
