// SPDX-License-Identifier: Apache-2.0
// The generator of random numbers, Philox4x32-10: a key and a 128-bit counter give four 32-bit numbers. The same key
// and counter always give the same numbers, so any part of a sequence can be made by itself. Compiled by canopy-cc too.
#pragma once

#include <cstdint>

namespace canopy {

struct PhiloxCounter {
    std::uint64_t low = 0, high = 0;

    constexpr PhiloxCounter operator+(std::uint64_t steps) const {
        const std::uint64_t sum = low + steps;
        return {sum, high + (sum < low ? 1 : 0)};
    }
};

struct PhiloxBlock {
    std::uint32_t word[4];
};

constexpr PhiloxBlock philox(std::uint64_t key, PhiloxCounter counter) {
    auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
    auto x0 = static_cast<std::uint32_t>(counter.low), x1 = static_cast<std::uint32_t>(counter.low >> 32);
    auto x2 = static_cast<std::uint32_t>(counter.high), x3 = static_cast<std::uint32_t>(counter.high >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
        const std::uint64_t a = std::uint64_t{0xD2511F53u} * x0, b = std::uint64_t{0xCD9E8D57u} * x2;
        x0 = static_cast<std::uint32_t>(b >> 32) ^ x1 ^ key0;
        x1 = static_cast<std::uint32_t>(b);
        x2 = static_cast<std::uint32_t>(a >> 32) ^ x3 ^ key1;
        x3 = static_cast<std::uint32_t>(a);
    }
    return {{x0, x1, x2, x3}};
}

}  // namespace canopy
