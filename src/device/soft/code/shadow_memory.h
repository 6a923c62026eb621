// SPDX-License-Identifier: Apache-2.0
// ShadowMemory: addresses that stand for global memory while a kernel is traced. Each region has a range of the same
// size that nobody can touch, and that lies at the same place inside a large page, so that whatever a kernel asks about
// alignment has the same answer.
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
    // 207000 when the regions are too large.
    static Result<ShadowMemory> create(std::span<const MemoryRange> regions);
    ShadowMemory(ShadowMemory&& other) noexcept;
    ShadowMemory& operator=(ShadowMemory&&) = delete;
    ~ShadowMemory();

    // A copy of an argument block with the addresses of the shadows. Refuses one with a word that is an address outside
    // of the regions: nothing would keep the kernel from using it.
    [[nodiscard]] Result<std::vector<std::byte>> replace_addresses(std::span<const std::byte> arguments) const;
    // The region that `bytes` bytes at a shadow address stand for.
    [[nodiscard]] std::optional<TraceAddress> find(std::uintptr_t address, std::uint64_t bytes) const noexcept;

private:
    struct Region {
        std::uintptr_t begin = 0;   // of the memory itself
        std::uintptr_t shadow = 0;  // what stands for it
        std::uint64_t size = 0;
    };
    ShadowMemory() = default;

    void* mapping_ = nullptr;
    std::size_t mapping_size_ = 0;
    std::vector<Region> regions_;
};

}  // namespace canopy
