// SPDX-License-Identifier: Apache-2.0
// What launches check alike, whichever way they come in: numbers of blocks and threads, and what the chip can do.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>

#include "base/error_text.h"
#include "base/result.h"
#include "core/base/error_codes.h"
#include "device/backend.h"

namespace canopy {

inline constexpr std::uint32_t max_blocks = 65535;

inline Status check_blocks(std::uint64_t blocks) {
    if (blocks == 0 || blocks > max_blocks) [[unlikely]]
        return fail(code::param_invalid, "numBlocks {} is not between 1 and {}", blocks, max_blocks);
    return {};
}

// Saturates: a product that does not fit is too large for every limit.
inline std::uint64_t product(const std::uint32_t (&dimensions)[3]) noexcept {
    std::uint64_t result = 0;
    if (__builtin_mul_overflow(std::uint64_t{dimensions[0]} * dimensions[1], std::uint64_t{dimensions[2]}, &result))
        return UINT64_MAX;
    return result;
}

// The dimensions of a SIMT launch.
inline Status check_grid(const CanopyGrid& grid) {
    if (product(grid.block) == 0)
        return fail(code::invalid_parameter, "blockDim {}x{}x{} contains a zero", grid.block[0], grid.block[1],
                    grid.block[2]);
    if (product(grid.block) > CANOPY_MAX_THREADS)
        return fail(code::param_invalid, "blockDim {}x{}x{} has {} threads; a block has {} at most", grid.block[0],
                    grid.block[1], grid.block[2], product(grid.block), CANOPY_MAX_THREADS);
    if (product(grid.grid) == 0 || product(grid.grid) > max_blocks)
        return fail(code::param_invalid, "gridDim {}x{}x{} has {} blocks; a launch has 1 to {}", grid.grid[0],
                    grid.grid[1], grid.grid[2], product(grid.grid), max_blocks);
    return {};
}

inline Status check_simt_chip(const Chip& chip) {
    if (!chip.simt) return fail(code::not_supported, "{} has no SIMT cores", chip.name);
    return {};
}

// A kernel is launched the way it was written: with threads or without.
inline Status check_form(const KernelInfo& info, bool threads) {
    if (info.simt == threads) [[likely]]
        return {};
    if (threads)
        return fail(code::param_invalid, "kernel {} is not a SIMT kernel: it takes a number of blocks, not of threads",
                    info.name);
    return fail(code::param_invalid, "kernel {} is a SIMT kernel: its launch must say how many threads a block has",
                info.name);
}

}  // namespace canopy
