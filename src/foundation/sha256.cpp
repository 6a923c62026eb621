// SPDX-License-Identifier: Apache-2.0
#include "foundation/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace canopy {
namespace {

using Words = std::array<std::uint32_t, 8>;
using Constants = std::array<std::uint32_t, 64>;

std::uint32_t first_fraction_bits(long double value) {
    return static_cast<std::uint32_t>((value - std::floor(value)) * 4294967296.0L);
}

// The standard derives its constants from the fractional parts of roots of the first primes; an extended double is
// precise enough.
template <std::size_t count, class Root>
std::array<std::uint32_t, count> from_primes(Root root) {
    std::array<std::uint32_t, count> words{};
    std::size_t found = 0;
    for (int number = 2; found < count; ++number) {
        bool prime = true;
        for (int divisor = 2; divisor * divisor <= number; ++divisor) prime = prime && number % divisor != 0;
        if (prime) words[found++] = first_fraction_bits(root(static_cast<long double>(number)));
    }
    return words;
}

void add_block(const unsigned char* block, const Constants& constants, Words& state) {
    std::array<std::uint32_t, 64> schedule{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t byte = 0; byte < 4; ++byte) schedule[i] = schedule[i] << 8 | block[4 * i + byte];
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t far = schedule[i - 15], near = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (std::rotr(far, 7) ^ std::rotr(far, 18) ^ far >> 3) + schedule[i - 7] +
                      (std::rotr(near, 17) ^ std::rotr(near, 19) ^ near >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t chosen = (e & f) ^ (~e & g), most = (a & b) ^ (a & c) ^ (b & c);
        const std::uint32_t first =
            h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + chosen + constants[i] + schedule[i];
        const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + most;
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const Words mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
    const Constants constants = from_primes<64>([](long double prime) { return std::cbrt(prime); });
    Words state = from_primes<8>([](long double prime) { return std::sqrt(prime); });
    std::string rest(bytes.substr(bytes.size() / 64 * 64));
    rest += '\x80';
    while (rest.size() % 64 != 56) rest += '\0';
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
    const auto add_all = [&](std::string_view text) {
        for (std::size_t at = 0; at + 64 <= text.size(); at += 64)
            add_block(reinterpret_cast<const unsigned char*>(text.data()) + at, constants, state);
    };
    add_all(bytes);
    add_all(rest);
    std::string digits;
    for (const std::uint32_t word : state)
        for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 0xf];
    return digits;
}

}  // namespace canopy
