// SPDX-License-Identifier: Apache-2.0
// What the functions for vector tilings share: shapes as numbers of elements, and the report of wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "graph/tensor.h"

namespace AscendC::host {

constexpr uint64_t block = 32;  // bytes of a block of UB

inline uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// A size as the interface reports it: the largest possible one if it does not fit.
inline uint32_t bytes(uint64_t size) {
    constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(size < most ? size : most);
}

// Returns false, for functions that say so.
inline bool reject(const char* function, const char* reason) {
    std::fprintf(stderr, "%s: %s\n", function, reason);
    return false;
}

// The elements of a shape; 0, with a report, if it has none.
inline uint64_t elements(const char* function, const ge::Shape& shape) {
    const int64_t count = shape.GetShapeSize();
    if (count > 0) return static_cast<uint64_t>(count);
    reject(function, "every dimension of the shape must be positive");
    return 0;
}

// Whether the shape belongs to this number of TransposeType: 1 to 6 {B, N, S, H/N}, 7 and 16 {H, W}, 13 {H, W} or
// {N, H, W}, 14 and 15 {N, H, W}.
inline bool is_transpose(const char* function, const ge::Shape& shape, uint32_t type) {
    const std::size_t rank = shape.GetDimNum();
    bool fits = false;
    if (type >= 1 && type <= 6)
        fits = rank == 4;
    else if (type == 7 || type == 16)
        fits = rank == 2;
    else if (type == 13)
        fits = rank == 2 || rank == 3;
    else if (type == 14 || type == 15)
        fits = rank == 3;
    else
        return reject(function, "the type of the transpose is not supported");
    return (fits && elements(function, shape) != 0) ||
           reject(function, "the shape does not have the dimensions that this type of transpose takes");
}

}  // namespace AscendC::host
