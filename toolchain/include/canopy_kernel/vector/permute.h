// SPDX-License-Identifier: Apache-2.0
// Moves of elements between lanes: transposes of tiles by rounds of interleaving, and every n-th element of a run.
#ifndef CANOPY_KERNEL_PERMUTE_H
#define CANOPY_KERNEL_PERMUTE_H

#include "canopy_kernel/core/lanes.h"

namespace canopy::kernel {

// Sixteen rows of 16 elements of one or two bytes, or of 8 elements of four bytes.
template <uint32_t size>
struct Tile {
    static_assert(size == 1 || size == 2 || size == 4, "tiles have elements of 8, 16 or 32 bits");
    using Element = unsigned_like<size>;
    static constexpr uint32_t columns = size == 4 ? 8 : 16;
    using Row = lane_vector<Element, columns>;

    Row row[16];

    void load(uint32_t i, const void* from) { __builtin_memcpy(&row[i], from, sizeof(Row)); }
    void store(uint32_t i, void* to) const { __builtin_memcpy(to, &row[i], sizeof(Row)); }

    // Row i becomes column i of what was loaded; with four bytes, rows 2i and 2i + 1 together.
    void transpose() {
        if constexpr (size == 1) {
            for (int round = 0; round < 4; ++round) interleave<0, 8, 16>();
        } else if constexpr (size == 2) {
            // Rows 0 to 7 and rows 8 to 15, each in both halves of a vector at once.
            for (int round = 0; round < 3; ++round) {
                interleave<0, 4, 8>();
                interleave<8, 4, 8>();
            }
            join<8>(row);
        } else {
            for (int round = 0; round < 2; ++round) {
                interleave<0, 2, 4>();
                interleave<4, 2, 4>();
                interleave<8, 2, 4>();
                interleave<12, 2, 4>();
            }
            Row pairs[16];
            for (uint32_t k = 0; k < 4; ++k) {
                pairs[2 * k] = low_halves(row[k], row[4 + k]);
                pairs[2 * k + 1] = low_halves(row[8 + k], row[12 + k]);
                pairs[8 + 2 * k] = high_halves(row[k], row[4 + k]);
                pairs[8 + 2 * k + 1] = high_halves(row[8 + k], row[12 + k]);
            }
            for (uint32_t k = 0; k < 16; ++k) row[k] = pairs[k];
        }
    }

private:
    // Interleaves the lower and the upper parts of two rows, in each 16 bytes of them.
    static Row lower(const Row& a, const Row& b) {
        if constexpr (size == 1)
            return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        else if constexpr (size == 2)
            return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
        else
            return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    }
    static Row upper(const Row& a, const Row& b) {
        if constexpr (size == 1)
            return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        else if constexpr (size == 2)
            return __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
        else
            return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    static Row low_halves(const Row& a, const Row& b) {
        if constexpr (size == 2)
            return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        else
            return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    }
    static Row high_halves(const Row& a, const Row& b) {
        if constexpr (size == 2)
            return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
        else
            return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }

    // One round on `count` rows: row i meets row i + distance.
    template <uint32_t first, uint32_t distance, uint32_t count>
    void interleave() {
        Row next[count];
        for (uint32_t i = 0; i < count / 2; ++i) {
            next[2 * i] = lower(row[first + i], row[first + i + distance]);
            next[2 * i + 1] = upper(row[first + i], row[first + i + distance]);
        }
        for (uint32_t i = 0; i < count; ++i) row[first + i] = next[i];
    }
    template <uint32_t half>
    static void join(Row (&rows)[16]) {
        Row next[16];
        for (uint32_t i = 0; i < half; ++i) {
            next[i] = low_halves(rows[i], rows[half + i]);
            next[half + i] = high_halves(rows[i], rows[half + i]);
        }
        for (uint32_t i = 0; i < 16; ++i) rows[i] = next[i];
    }
};

// to[column][row] = from[row][column]; the two do not overlap.
template <class T>
inline void transpose_matrix(T* to, const T* from, uint64_t rows, uint64_t columns) {
    constexpr uint32_t tall = 16, wide = Tile<sizeof(T)>::columns;
    uint64_t r = 0;
    for (; r + tall <= rows; r += tall) {
        uint64_t c = 0;
        for (; c + wide <= columns; c += wide) {
            Tile<sizeof(T)> tile;
            for (uint32_t i = 0; i < tall; ++i) tile.load(i, from + (r + i) * columns + c);
            tile.transpose();
            for (uint32_t i = 0; i < 16; ++i) {
                if constexpr (sizeof(T) == 4)
                    tile.store(i, to + (c + i / 2) * rows + r + i % 2 * 8);
                else
                    tile.store(i, to + (c + i) * rows + r);
            }
        }
        for (; c < columns; ++c)
            for (uint64_t i = r; i < r + tall; ++i) to[c * rows + i] = from[i * columns + c];
    }
    for (; r < rows; ++r)
        for (uint64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

#if defined(__AVX2__)
// For each byte of bits: the numbers of its set bits in ascending order, one in each byte.
struct SetBitNumbers {
    uint64_t of[256];
    constexpr SetBitNumbers() : of() {
        for (uint32_t bits = 0; bits < 256; ++bits) {
            uint32_t shift = 0;
            for (uint64_t i = 0; i < 8; ++i)
                if ((bits >> i & 1) != 0) {
                    of[bits] |= i << shift;
                    shift += 8;
                }
        }
    }
};
template <class T>
inline constexpr SetBitNumbers set_bit_numbers{};

template <class T>
inline constexpr bool compresses_eight = sizeof(T) == 2 || sizeof(T) == 4;

// Those of eight elements whose bits are set, one after the other; what follows them in the eight is not defined.
template <class T>
inline void compress_eight(T* to, const T* from, uint32_t bits) {
    typedef char Bytes __attribute__((vector_size(16)));
    typedef int Words __attribute__((vector_size(32)));
    const auto numbers = __builtin_bit_cast(lane_vector<uint8_t, 8>, set_bit_numbers<T>.of[bits]);
    if constexpr (sizeof(T) == 4) {
        const auto places = __builtin_convertvector(numbers, lane_vector<int32_t, 8>);
        store_lanes(to, __builtin_ia32_permvarsi256(__builtin_bit_cast(Words, load_lanes<8>(from)),
                                                    __builtin_bit_cast(Words, places)));
    } else {
        // The two bytes of element n are 2n and 2n + 1.
        const auto wide = __builtin_convertvector(numbers, lane_vector<uint16_t, 8>);
        const auto places = wide * uint16_t{0x0202} + uint16_t{0x0100};
        store_lanes(to, __builtin_ia32_pshufb128(__builtin_bit_cast(Bytes, load_lanes<8>(from)),
                                                 __builtin_bit_cast(Bytes, places)));
    }
}
#else
template <class T>
inline constexpr bool compresses_eight = false;
template <class T>
void compress_eight(T* to, const T* from, uint32_t bits);
#endif

// Moves the elements whose bits are set to the front of the destination, which may be the source; returns how many
// they are. Nothing behind them is written.
template <class T>
inline uint64_t compress_run(T* to, const T* from, const unsigned char* bits, uint64_t count) {
    const auto byte_of = [&](uint64_t first) {
        return bits[first / 8] & (count - first < 8 ? (1u << (count - first)) - 1 : 255u);
    };
    uint64_t first = 0, kept = 0;
    if constexpr (compresses_eight<T>) {
        uint64_t total = 0;
        for (; first + 64 <= count; first += 64) {
            uint64_t more;
            __builtin_memcpy(&more, bits + first / 8, sizeof more);
            total += static_cast<uint64_t>(__builtin_popcountll(more));
        }
        for (; first < count; first += 8) total += static_cast<uint64_t>(__builtin_popcount(byte_of(first)));
        for (first = 0; first + 8 <= count && kept + 8 <= total; first += 8) {
            compress_eight(to + kept, from + first, bits[first / 8]);
            kept += static_cast<uint64_t>(__builtin_popcount(bits[first / 8]));
        }
    }
    for (; first < count; first += 8)
        for (uint32_t left = byte_of(first); left != 0; left &= left - 1)
            to[kept++] = from[first + static_cast<uint32_t>(__builtin_ctz(left))];
    return kept;
}

// to[i] = from[i * step]. The destination may be the start of the source.
template <uint32_t step, class T>
inline void copy_every(uint64_t count, T* to, const T* from) {
    static_assert(step == 2 || step == 4, "every second or fourth element");
    constexpr uint32_t group = sizeof(T) == 2 ? 16 : 8;
    using Integer = unsigned_like<sizeof(T)>;
    uint64_t i = 0;
#pragma clang loop unroll_count(4)
    for (; i + group < count; i += group) {
        lane_vector<Integer, group * step> all;
        __builtin_memcpy(&all, from + i * step, sizeof all);
        if constexpr (step == 2 && group == 16)
            store_lanes(to + i,
                        __builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
        else if constexpr (step == 2)
            store_lanes(to + i, __builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14));
        else if constexpr (group == 16)
            store_lanes(to + i,
                        __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60));
        else
            store_lanes(to + i, __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28));
    }
    for (; i < count; ++i) to[i] = from[i * step];
}

}  // namespace canopy::kernel

#endif
