// SPDX-License-Identifier: Apache-2.0
// Chips as rows of data: what programs ask a device about, and the limits a software NPU enforces in its name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace canopy {

struct Chip {
    std::string_view name;       // as aclrtGetSocName gives it
    std::string_view series;     // "A2", "A3", "A5"
    std::uint32_t architecture;  // the kernel language's architecture number
    std::uint32_t cube_cores;
    std::uint32_t vector_cores;
    std::uint32_t cpu_cores;
    std::uint32_t copy_engines;
    std::uint64_t memory;  // bytes of device memory on the real part
    std::uint64_t l2_cache;
    std::uint32_t unified_buffer;  // bytes of a vector core's local memory
    std::uint32_t l1_buffer;
    std::uint32_t l0a_buffer, l0b_buffer, l0c_buffer;
    std::uint32_t max_streams;
    std::uint32_t max_events;
    std::uint32_t max_notifies;
    std::uint32_t malloc_padding;  // bytes added to every plain allocation
    std::uint32_t max_stack;       // bytes a block's stack may be configured to
    bool simt;
};

std::span<const Chip> all_chips() noexcept;
const Chip& default_chip() noexcept;
// By name, exact first, then by prefix ("Ascend910B" finds the first of its class); nullptr when unknown.
const Chip* find_chip(std::string_view name) noexcept;

}  // namespace canopy
