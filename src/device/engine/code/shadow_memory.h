// SPDX-License-Identifier: Apache-2.0
// ShadowMemory: addresses that replace global memory while a kernel is traced. Each region gets an inaccessible range
// of the same size at the same offset inside a large page, so alignment checks in the kernel give the same result.
//
// Threads: a value without hidden state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/trace.h"

namespace canopy {

class ShadowMemory {
public:
    // Fails with 207000 if the regions are too large.
    static Result<ShadowMemory> create(std::span<const DeviceRange> regions);
    ShadowMemory(ShadowMemory&& other) noexcept;
    ShadowMemory& operator=(ShadowMemory&&) = delete;
    ~ShadowMemory();

    // Returns a copy of an argument block with the addresses replaced by their shadows. Fails if a word is an address
    // outside the regions: nothing would keep the kernel from using it.
    [[nodiscard]] Result<std::vector<std::byte>> replace_addresses(std::span<const std::byte> arguments) const;
    // The region and offset behind `bytes` bytes at a shadow address.
    [[nodiscard]] std::optional<TraceAddress> find(std::uintptr_t address, std::uint64_t bytes) const noexcept;

private:
    struct Region {
        std::uintptr_t begin = 0;   // of the real memory
        std::uintptr_t shadow = 0;  // begin of its shadow
        std::uint64_t size = 0;
    };
    ShadowMemory() = default;

    void* mapping_ = nullptr;
    std::size_t mapping_size_ = 0;
    std::vector<Region> regions_;
};

}  // namespace canopy
