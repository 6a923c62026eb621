// SPDX-License-Identifier: Apache-2.0
// The plain loops of the sweep, compiled by the compiler of the kernels with -O3 -march=native. Every loop computes
// what the call of its row computes, as one would write it by hand.
#include <algorithm>
#include <cstring>

#include "language/sweep_numbers.h"

namespace bench {
namespace {

template <class T>
T* at(unsigned char* memory) {
    return reinterpret_cast<T*>(memory);
}

#define LOOP(name) [[maybe_unused]] void loop_##name(const SweepMemory& m)

#define SWEEP_UNARY(Name, T, expression)             \
    LOOP(Name##_##T) {                               \
        const uint32_t zero = opaque_zero();         \
        T* __restrict d = at<T>(m.d);                \
        const T* __restrict a = at<T>(m.a);          \
        for (uint32_t i = 0; i < elements<T>; ++i) { \
            const auto x = wide(a[i], zero);         \
            d[i] = stored<T>(expression);            \
        }                                            \
    }
#define SWEEP_BINARY(Name, T, expression)                                \
    LOOP(Name##_##T) {                                                   \
        const uint32_t zero = opaque_zero();                             \
        T* __restrict d = at<T>(m.d);                                    \
        const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b); \
        for (uint32_t i = 0; i < elements<T>; ++i) {                     \
            const auto x = wide(a[i], zero), y = wide(b[i], zero);       \
            d[i] = stored<T>(expression);                                \
        }                                                                \
    }
#define SWEEP_NUMBER(Name, T, number, expression)    \
    LOOP(Name##_##T) {                               \
        const uint32_t zero = opaque_zero();         \
        T* __restrict d = at<T>(m.d);                \
        const T* __restrict a = at<T>(m.a);          \
        const auto s = wide(static_cast<T>(number)); \
        for (uint32_t i = 0; i < elements<T>; ++i) { \
            const auto x = wide(a[i], zero);         \
            d[i] = stored<T>(expression);            \
        }                                            \
    }
#define SWEEP_UPDATE(Name, D, S, expression)                             \
    LOOP(Name##_##D##_##S) {                                             \
        const uint32_t zero = opaque_zero();                             \
        D* __restrict d = at<D>(m.d);                                    \
        const S* __restrict a = at<S>(m.a), * __restrict b = at<S>(m.b); \
        for (uint32_t i = 0; i < elements<D>; ++i) {                     \
            const auto x = wide(a[i], zero), y = wide(b[i], zero);       \
            const auto z = wide(d[i], zero);                             \
            d[i] = stored<D>(expression);                                \
        }                                                                \
    }
#define SWEEP_AXPY(D, S)                                                                                          \
    LOOP(Axpy_##D##_##S) {                                                                                        \
        const uint32_t zero = opaque_zero();                                                                      \
        D* __restrict d = at<D>(m.d);                                                                             \
        const S* __restrict a = at<S>(m.a);                                                                       \
        for (uint32_t i = 0; i < elements<D>; ++i) d[i] = stored<D>(wide(d[i], zero) + wide(a[i], zero) * 0.25f); \
    }
#define SWEEP_CAST(D, S, mode, expression)              \
    LOOP(Cast_##D##_##S##_##mode) {                     \
        const uint32_t zero = opaque_zero();            \
        D* __restrict d = at<D>(m.d);                   \
        const S* __restrict a = at<S>(m.a);             \
        for (uint32_t i = 0; i < elements<D, S>; ++i) { \
            const auto x = wide(a[i], zero);            \
            d[i] = stored<D>(expression);               \
        }                                               \
    }
#define SWEEP_CASTING(Name, D, S, expression)                            \
    LOOP(Name##_##D##_##S) {                                             \
        const uint32_t zero = opaque_zero();                             \
        D* __restrict d = at<D>(m.d);                                    \
        const S* __restrict a = at<S>(m.a), * __restrict b = at<S>(m.b); \
        for (uint32_t i = 0; i < elements<D>; ++i) {                     \
            const auto x = wide(a[i], zero), y = wide(b[i], zero);       \
            d[i] = stored<D>(expression);                                \
        }                                                                \
    }
#define SWEEP_COMPARE(T, mode, expression)                                     \
    LOOP(Compare_##T##_##mode) {                                               \
        const uint32_t zero = opaque_zero();                                   \
        uint8_t* __restrict d = m.d;                                           \
        const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);       \
        for (uint32_t i = 0; i < elements<T>; i += 8) {                        \
            uint32_t bits = 0;                                                 \
            for (uint32_t j = 0; j < 8; ++j) {                                 \
                const auto x = wide(a[i + j], zero), y = wide(b[i + j], zero); \
                bits |= static_cast<uint32_t>(expression) << j;                \
            }                                                                  \
            d[i / 8] = static_cast<uint8_t>(bits);                             \
        }                                                                      \
    }
#define SWEEP_COMPARES(T, mode, expression)                     \
    LOOP(Compares_##T##_##mode) {                               \
        const uint32_t zero = opaque_zero();                    \
        uint8_t* __restrict d = m.d;                            \
        const T* __restrict a = at<T>(m.a);                     \
        const auto s = wide(static_cast<T>(0.25f));             \
        for (uint32_t i = 0; i < elements<T>; i += 8) {         \
            uint32_t bits = 0;                                  \
            for (uint32_t j = 0; j < 8; ++j) {                  \
                const auto x = wide(a[i + j], zero);            \
                bits |= static_cast<uint32_t>(expression) << j; \
            }                                                   \
            d[i / 8] = static_cast<uint8_t>(bits);              \
        }                                                       \
    }
#define SWEEP_COUNT(Name, T)
#define SWEEP_SORTED(Name, T)
#define SWEEP_MASK(Name, T)
#define SWEEP_SPECIAL(Name, T)
#include "language/sweep_rows.h"

#define TEMPLATE_LOOP(name) \
    template <class T>      \
    void name##_loop(const SweepMemory& m)

constexpr uint8_t flag[8] = {1, 2, 4, 8, 16, 32, 64, 128};
TEMPLATE_LOOP(select_tensors) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    const uint8_t* __restrict bits = m.work + 8192;
    for (uint32_t i = 0; i < elements<T>; i += 8)
        for (uint32_t j = 0; j < 8; ++j) d[i + j] = bits[i / 8] & flag[j] ? a[i + j] : b[i + j];
}
TEMPLATE_LOOP(select_scalar) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    const uint8_t* __restrict bits = m.work + 8192;
    for (uint32_t i = 0; i < elements<T>; i += 8)
        for (uint32_t j = 0; j < 8; ++j) d[i + j] = bits[i / 8] & flag[j] ? a[i + j] : static_cast<T>(3);
}
TEMPLATE_LOOP(select_register) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    const uint8_t* __restrict bits = m.work + 8192;
    for (uint32_t i = 0; i < elements<T>; i += 8)
        for (uint32_t j = 0; j < 8; ++j) d[i + j] = bits[i % (256 / sizeof(T)) / 8] & flag[j] ? a[i + j] : b[i + j];
}
TEMPLATE_LOOP(duplicate) {
    T* __restrict d = at<T>(m.d);
    for (uint32_t i = 0; i < elements<T>; ++i) d[i] = static_cast<T>(3);
}
TEMPLATE_LOOP(index) {
    T* __restrict d = at<T>(m.d);
    for (uint32_t i = 0; i < elements<T>; ++i) {
        if constexpr (std::is_same_v<T, int32_t>)
            d[i] = 3 + static_cast<int32_t>(i);
        else
            d[i] = static_cast<T>(3.0f + static_cast<float>(static_cast<int32_t>(i)));
    }
}

// Sums in as many parts as the compiler likes.
template <class T>
float sum_of(const T* __restrict a, uint32_t count) {
    float part[64] = {};
    uint32_t i = 0;
    for (; i + 64 <= count; i += 64)
        for (uint32_t j = 0; j < 64; ++j) part[j] += static_cast<float>(a[i + j]);
    for (uint32_t step = 32; step != 0; step /= 2)
        for (uint32_t j = 0; j < step; ++j) part[j] += part[j + step];
    return part[0];
}
template <bool largest, class T>
float extreme_of(const T* __restrict a, uint32_t count) {
    float part[64];
    for (uint32_t j = 0; j < 64; ++j) part[j] = largest ? -__builtin_inff() : __builtin_inff();
    for (uint32_t i = 0; i + 64 <= count; i += 64)
        for (uint32_t j = 0; j < 64; ++j) {
            const float x = static_cast<float>(a[i + j]);
            part[j] = (largest ? x > part[j] : x < part[j]) ? x : part[j];
        }
    for (uint32_t step = 32; step != 0; step /= 2)
        for (uint32_t j = 0; j < step; ++j)
            part[j] = (largest ? part[j + step] > part[j] : part[j + step] < part[j]) ? part[j + step] : part[j];
    return part[0];
}
template <class T>
uint32_t place_of(const T* __restrict a, uint32_t count, float wanted) {
    const uint32_t zero = opaque_zero();
    for (uint32_t i = 0; i < count; i += 64) {
        uint32_t found = 0;
        for (uint32_t j = 0; j < 64; ++j) found |= wide(a[i + j], zero) == wanted;
        if (found == 0) continue;
        for (uint32_t j = 0;; ++j)
            if (static_cast<float>(a[i + j]) == wanted) return i + j;
    }
    return 0;
}
TEMPLATE_LOOP(sum) { at<T>(m.d)[0] = static_cast<T>(sum_of(at<const T>(m.a), elements<T>)); }
TEMPLATE_LOOP(maximum) { at<T>(m.d)[0] = static_cast<T>(extreme_of<true>(at<const T>(m.a), elements<T>)); }
TEMPLATE_LOOP(minimum) { at<T>(m.d)[0] = static_cast<T>(extreme_of<false>(at<const T>(m.a), elements<T>)); }
TEMPLATE_LOOP(maximum_index) {
    const float best = extreme_of<true>(at<const T>(m.a), elements<T>);
    at<T>(m.d)[0] = static_cast<T>(best);
    const uint32_t place = place_of(at<const T>(m.a), elements<T>, best);
    std::memcpy(at<T>(m.d) + 1, &place, sizeof(T));
}
TEMPLATE_LOOP(minimum_index) {
    const float best = extreme_of<false>(at<const T>(m.a), elements<T>);
    at<T>(m.d)[0] = static_cast<T>(best);
    const uint32_t place = place_of(at<const T>(m.a), elements<T>, best);
    std::memcpy(at<T>(m.d) + 1, &place, sizeof(T));
}
template <class T>
constexpr uint32_t lanes = 256 / sizeof(T);
TEMPLATE_LOOP(whole_sum) {
    for (uint32_t r = 0; r < elements<T> / lanes<T>; ++r)
        at<T>(m.d)[r] = static_cast<T>(sum_of(at<const T>(m.a) + r * lanes<T>, lanes<T>));
}
template <bool largest, bool with_index, class T>
void whole_extreme(const SweepMemory& m) {
    for (uint32_t r = 0; r < elements<T> / lanes<T>; ++r) {
        const T* a = at<const T>(m.a) + r * lanes<T>;
        const float best = extreme_of<largest>(a, lanes<T>);
        T* to = at<T>(m.d) + r * (with_index ? 2 : 1);
        to[0] = static_cast<T>(best);
        if (!with_index) continue;
        const uint32_t place = place_of(a, lanes<T>, best);
        std::memcpy(to + 1, &place, sizeof(T));
    }
}
TEMPLATE_LOOP(whole_maximum) { whole_extreme<true, true, T>(m); }
TEMPLATE_LOOP(whole_minimum) { whole_extreme<false, true, T>(m); }
TEMPLATE_LOOP(whole_value) { whole_extreme<true, false, T>(m); }
TEMPLATE_LOOP(block_sum) {
    constexpr uint32_t width = 32 / sizeof(T);
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / width; ++i) {
        float part[width];
        for (uint32_t j = 0; j < width; ++j) part[j] = static_cast<float>(a[i * width + j]);
        for (uint32_t step = width / 2; step != 0; step /= 2)
            for (uint32_t j = 0; j < step; ++j) part[j] += part[j + step];
        d[i] = static_cast<T>(part[0]);
    }
}
template <bool largest, class T>
void block_extreme(const SweepMemory& m) {
    constexpr uint32_t width = 32 / sizeof(T);
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / width; ++i) {
        float part[width];
        for (uint32_t j = 0; j < width; ++j) part[j] = static_cast<float>(a[i * width + j]);
        for (uint32_t step = width / 2; step != 0; step /= 2)
            for (uint32_t j = 0; j < step; ++j)
                part[j] = (largest ? part[j + step] > part[j] : part[j + step] < part[j]) ? part[j + step] : part[j];
        d[i] = static_cast<T>(part[0]);
    }
}
TEMPLATE_LOOP(block_maximum) { block_extreme<true, T>(m); }
TEMPLATE_LOOP(block_minimum) { block_extreme<false, T>(m); }
TEMPLATE_LOOP(pair_sum) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / 2; ++i)
        d[i] = static_cast<T>(static_cast<float>(a[2 * i]) + static_cast<float>(a[2 * i + 1]));
}
TEMPLATE_LOOP(gather) {
    T* __restrict d = at<T>(m.d);
    const unsigned char* __restrict a = m.a;
    const uint32_t* __restrict offset = at<uint32_t>(m.c);
    for (uint32_t i = 0; i < elements<T>; ++i) std::memcpy(d + i, a + offset[i], sizeof(T));
}
TEMPLATE_LOOP(gather_blocks) {
    const uint32_t* __restrict offset = at<uint32_t>(m.work);
    for (uint32_t i = 0; i < elements<T> * sizeof(T) / 32; ++i) std::memcpy(m.d + i * 32, m.a + offset[i], 32);
}
template <uint32_t step, class T>
void every(const SweepMemory& m) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / step; ++i) d[i] = a[i * step];
}
TEMPLATE_LOOP(even) { every<2, T>(m); }
TEMPLATE_LOOP(fourth) { every<4, T>(m); }
TEMPLATE_LOOP(kept) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    const uint8_t* __restrict bits = m.work + 8192;
    uint32_t count = 0;
    for (uint32_t i = 0; i < elements<T>; i += 8)
        for (uint32_t j = 0; j < 8; ++j) {
            d[count] = a[i + j];
            count += bits[i / 8] >> j & 1;
        }
}
TEMPLATE_LOOP(spread) {
    constexpr uint32_t width = 32 / sizeof(T);
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / width; ++i)
        for (uint32_t j = 0; j < width; ++j) d[i * width + j] = a[i];
}
TEMPLATE_LOOP(broadcast_rows) {
    for (uint32_t i = 0; i < elements<T> / 128; ++i) std::memcpy(at<T>(m.d) + i * 128, m.a, 128 * sizeof(T));
}
TEMPLATE_LOOP(broadcast_columns) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T> / 128; ++i)
        for (uint32_t j = 0; j < 128; ++j) d[i * 128 + j] = a[i];
}
// The compiler turns it into shuffles, because the bounds are constant.
template <uint32_t rows, uint32_t columns, class T>
void turn(T* __restrict d, const T* __restrict a, uint32_t to_pitch, uint32_t from_pitch) {
    for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t r = 0; r < rows; ++r) d[c * to_pitch + r] = a[r * from_pitch + c];
}
TEMPLATE_LOOP(square) { turn<16, 16>(at<T>(m.d), at<const T>(m.a), 16, 16); }
TEMPLATE_LOOP(channels_last) {  // 16 channels of 512 pixels
    for (uint32_t c = 0; c < 512; c += 16) turn<16, 16>(at<T>(m.d) + c * 16, at<const T>(m.a) + c, 16, 512);
}
TEMPLATE_LOOP(turned_blocks) {
    if constexpr (sizeof(T) == 2)
        for (uint32_t i = 0; i < 32; ++i) turn<16, 16>(at<T>(m.d) + i * 256, at<const T>(m.a) + i * 256, 16, 16);
    else if constexpr (sizeof(T) == 4)
        for (uint32_t i = 0; i < 64; ++i) turn<16, 8>(at<T>(m.d) + i * 128, at<const T>(m.a) + i * 128, 16, 8);
    else
        for (uint32_t i = 0; i < 16; ++i) turn<16, 16>(at<T>(m.d) + i * 512, at<const T>(m.a) + i * 512, 32, 32);
}
TEMPLATE_LOOP(sort_32) {
    const uint32_t zero = opaque_zero();
    for (uint32_t r = 0; r < 64; ++r) {
        const T* __restrict a = at<const T>(m.a) + r * 32;
        const uint32_t* __restrict index = at<uint32_t>(m.c) + r * 32;
        float score[32];
        for (uint32_t i = 0; i < 32; ++i) score[i] = wide(a[i], zero);
        uint64_t* __restrict d = at<uint64_t>(m.d) + r * 32;
        for (uint32_t i = 0; i < 32; ++i) {
            uint32_t ahead = 0;
            for (uint32_t j = 0; j < 32; ++j) ahead += score[j] > score[i];
            for (uint32_t j = 0; j < i; ++j) ahead += score[j] == score[i];
            uint64_t pair = 0;
            std::memcpy(&pair, a + i, sizeof(T));
            d[ahead] = pair | uint64_t{index[i]} << 32;
        }
    }
}
struct Pair {
    float score;
    uint32_t index;
};
TEMPLATE_LOOP(merge) {
    const Pair* head[4];
    const Pair* end[4];
    for (int i = 0; i < 4; ++i) {
        head[i] = at<const Pair>(m.a) + i * 512;
        end[i] = head[i] + 512;
    }
    for (Pair* d = at<Pair>(m.d);; ++d) {
        int best = -1;
        for (int i = 0; i < 4; ++i)
            if (head[i] != end[i] && (best < 0 || head[i]->score > head[best]->score)) best = i;
        if (best < 0) return;
        *d = *head[best]++;
    }
}
TEMPLATE_LOOP(sort) {
    Pair* d = at<Pair>(m.d);
    for (uint32_t i = 0; i < 2048; ++i) d[i] = {at<float>(m.a)[i], at<uint32_t>(m.c)[i]};
    std::stable_sort(d, d + 2048, [](const Pair& a, const Pair& b) { return a.score > b.score; });
}
TEMPLATE_LOOP(extract) {
    const Pair* __restrict a = at<Pair>(m.a);
    float* __restrict score = at<float>(m.d);
    uint32_t* __restrict index = at<uint32_t>(m.d) + 4096;
    for (uint32_t i = 0; i < 4096; ++i) {
        score[i] = a[i].score;
        index[i] = a[i].index;
    }
}
TEMPLATE_LOOP(copy) { std::memcpy(m.d, m.a, elements<T> * sizeof(T)); }
TEMPLATE_LOOP(copy_in) { std::memcpy(m.d, m.device, elements<T> * sizeof(T)); }
TEMPLATE_LOOP(copy_out) { std::memcpy(m.device, m.a, elements<T> * sizeof(T)); }
TEMPLATE_LOOP(add_out) {
    T* __restrict d = at<T>(m.device);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T>; ++i) d[i] = static_cast<T>(wide(d[i]) + wide(a[i]));
}
TEMPLATE_LOOP(max_out) {
    T* __restrict d = at<T>(m.device);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T>; ++i) d[i] = a[i] > d[i] ? a[i] : d[i];
}
// 64 rows of 100 bytes, padded to 128. The length is not a constant, as in our call.
TEMPLATE_LOOP(pad_in) {
    const uint32_t length = 100 + opaque_zero();
    for (uint32_t i = 0; i < 64; ++i) {
        std::memcpy(m.d + i * 128, m.device + i * length, length);
        for (uint32_t j = length; j < 128; j += sizeof(T)) *reinterpret_cast<T*>(m.d + i * 128 + j) = static_cast<T>(3);
    }
}
TEMPLATE_LOOP(pad_out) {
    const uint32_t length = 100 + opaque_zero();
    for (uint32_t i = 0; i < 64; ++i) std::memcpy(m.device + i * length, m.a + i * 128, length);
}

TEMPLATE_LOOP(every_second_sum) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t i = 0; i < elements<T>; i += 2) d[i] = static_cast<T>(wide(a[i]) + wide(b[i]));
}
TEMPLATE_LOOP(every_second_product) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t i = 0; i < elements<T>; i += 2) d[i] = static_cast<T>(wide(a[i]) * wide(b[i]));
}
TEMPLATE_LOOP(add_48) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t r = 0; r < elements<T>; r += 64)
        for (uint32_t i = r; i < r + 48; ++i) d[i] = a[i] + b[i];
}
template <class T, class Combine>
void spread_blocks(const SweepMemory& m, Combine combine) {  // half as many elements, every second block
    constexpr uint32_t width = 32 / sizeof(T);
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t r = 0; r < elements<T>; r += 2 * width)
        for (uint32_t i = r; i < r + width; ++i) d[i] = static_cast<T>(combine(wide(a[i]), wide(b[i])));
}
TEMPLATE_LOOP(add_spread) {
    spread_blocks<T>(m, [](auto x, auto y) { return x + y; });
}
TEMPLATE_LOOP(multiply_spread) {
    spread_blocks<T>(m, [](auto x, auto y) { return x * y; });
}
TEMPLATE_LOOP(multiply_block) {  // one block of b for each repeat
    constexpr uint32_t width = 32 / sizeof(T);
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t r = 0; r < elements<T> / (8 * width); ++r)
        for (uint32_t k = 0; k < 8; ++k)
            for (uint32_t j = 0; j < width; ++j) {
                const uint32_t i = (r * 8 + k) * width + j;
                d[i] = static_cast<T>(wide(a[i]) * wide(b[r * width + j]));
            }
}
TEMPLATE_LOOP(add_row) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t r = 0; r < elements<T>; r += lanes<T>)
        for (uint32_t j = 0; j < lanes<T>; ++j) d[r + j] = a[r + j] + b[j];
}
TEMPLATE_LOOP(add_wide) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t r = 0; r < elements<T>; r += 2 * lanes<T>)
        for (uint32_t j = 0; j < lanes<T>; ++j) d[r + j] = a[r + j] + b[r + j];
}
TEMPLATE_LOOP(multiply_all) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a);
    for (uint32_t i = 0; i < elements<T>; ++i) d[i] = a[i] * 3;
}
TEMPLATE_LOOP(add_all) {
    T* __restrict d = at<T>(m.d);
    const T* __restrict a = at<T>(m.a), * __restrict b = at<T>(m.b);
    for (uint32_t i = 0; i < elements<T>; ++i) d[i] = a[i] + b[i];
}
TEMPLATE_LOOP(maxima_64) {
    for (uint32_t r = 0; r < elements<T>; r += 64)
        at<T>(m.d)[r / 8] = static_cast<T>(extreme_of<true>(at<const T>(m.a) + r, 64));
}
TEMPLATE_LOOP(sums_64) {
    for (uint32_t r = 0; r < elements<T>; r += 64) at<T>(m.d)[r / 8] = static_cast<T>(sum_of(at<const T>(m.a) + r, 64));
}
TEMPLATE_LOOP(maxima_32) {
    const T* __restrict a = at<T>(m.a);
    for (uint32_t r = 0; r < elements<T> / 64; ++r) {
        float part[32];
        for (uint32_t j = 0; j < 32; ++j) part[j] = a[r * 64 + j];
        for (uint32_t step = 16; step != 0; step /= 2)
            for (uint32_t j = 0; j < step; ++j) part[j] = part[j + step] > part[j] ? part[j + step] : part[j];
        uint32_t place = 0;
        for (uint32_t j = 0; j < 32; ++j)
            if (a[r * 64 + 31 - j] == part[0]) place = 31 - j;
        at<T>(m.d)[2 * r] = part[0];
        std::memcpy(at<T>(m.d) + 2 * r + 1, &place, sizeof(T));
    }
}

#define SAME_LOOP(Name, name) \
    template <class T>        \
    constexpr SweepLoop loop_of_##Name = &name##_loop<T>;
SAME_LOOP(Select_tensors, select_tensors)
SAME_LOOP(Select_scalar, select_scalar)
SAME_LOOP(Select_register, select_register)
SAME_LOOP(Select_tensors_m, select_tensors)
SAME_LOOP(Select_scalar_m, select_scalar)
SAME_LOOP(Duplicate, duplicate)
SAME_LOOP(Duplicate_m, duplicate)
SAME_LOOP(CreateVecIndex, index)
SAME_LOOP(CreateVecIndex_m, index)
SAME_LOOP(ReduceSum, sum)
SAME_LOOP(ReduceMax, maximum)
SAME_LOOP(ReduceMin, minimum)
SAME_LOOP(ReduceMax_index, maximum_index)
SAME_LOOP(ReduceMin_index, minimum_index)
SAME_LOOP(ReduceSum_m, sum)
SAME_LOOP(ReduceMax_m, maximum)
SAME_LOOP(ReduceMax_index_m, maximum_index)
SAME_LOOP(WholeReduceSum, whole_sum)
SAME_LOOP(WholeReduceMax, whole_maximum)
SAME_LOOP(WholeReduceMin, whole_minimum)
SAME_LOOP(WholeReduceMax_value, whole_value)
SAME_LOOP(BlockReduceSum, block_sum)
SAME_LOOP(BlockReduceMax, block_maximum)
SAME_LOOP(BlockReduceMin, block_minimum)
SAME_LOOP(PairReduceSum, pair_sum)
SAME_LOOP(RepeatReduceSum, whole_sum)
SAME_LOOP(Gather, gather)
SAME_LOOP(Gather_m, gather)
SAME_LOOP(Gatherb, gather_blocks)
SAME_LOOP(GatherMask_even, even)
SAME_LOOP(GatherMask_fourth, fourth)
SAME_LOOP(GatherMask_bits, kept)
SAME_LOOP(Brcb, spread)
SAME_LOOP(BroadCast_rows, broadcast_rows)
SAME_LOOP(BroadCast_columns, broadcast_columns)
SAME_LOOP(Transpose, square)
SAME_LOOP(Transpose_channels_last, channels_last)
SAME_LOOP(TransDataTo5HD, turned_blocks)
SAME_LOOP(Sort32, sort_32)
SAME_LOOP(MrgSort, merge)
SAME_LOOP(Sort, sort)
SAME_LOOP(Extract, extract)
SAME_LOOP(Copy, copy)
SAME_LOOP(DataCopy_inside, copy)
SAME_LOOP(DataCopy_in, copy_in)
SAME_LOOP(DataCopy_out, copy_out)
SAME_LOOP(DataCopy_out_add, add_out)
SAME_LOOP(DataCopy_out_max, max_out)
SAME_LOOP(DataCopyPad_in, pad_in)
SAME_LOOP(DataCopyPad_out, pad_out)
SAME_LOOP(Add_bits, every_second_sum)
SAME_LOOP(Mul_bits, every_second_product)
SAME_LOOP(Add_48_lanes, add_48)
SAME_LOOP(Add_block_stride_2, add_spread)
SAME_LOOP(Mul_block_stride_2, multiply_spread)
SAME_LOOP(Mul_block_stride_0, multiply_block)
SAME_LOOP(Add_repeat_stride_0, add_row)
SAME_LOOP(Add_repeat_stride_16, add_wide)
SAME_LOOP(Muls_of_16, multiply_all)
SAME_LOOP(Add_of_64, add_all)
SAME_LOOP(ReduceMax_of_64, maxima_64)
SAME_LOOP(ReduceSum_of_64, sums_64)
SAME_LOOP(WholeReduceMax_32_lanes, maxima_32)

#undef SWEEP_UNARY
#undef SWEEP_BINARY
#undef SWEEP_NUMBER
#undef SWEEP_UPDATE
#undef SWEEP_AXPY
#undef SWEEP_CAST
#undef SWEEP_CASTING
#undef SWEEP_COMPARE
#undef SWEEP_COMPARES
#undef SWEEP_COUNT
#undef SWEEP_SORTED
#undef SWEEP_MASK
#undef SWEEP_SPECIAL

#define BOTH_FORMS(text, T, loop) {text, data_of<T>, false, false, &loop}, {text, data_of<T>, true, false, &loop},
#define SWEEP_UNARY(Name, T, expression) BOTH_FORMS(#Name " " #T, T, loop_##Name##_##T)
#define SWEEP_BINARY(Name, T, expression) BOTH_FORMS(#Name " " #T, T, loop_##Name##_##T)
#define SWEEP_NUMBER(Name, T, number, expression) BOTH_FORMS(#Name " " #T, T, loop_##Name##_##T)
#define SWEEP_UPDATE(Name, D, S, expression) BOTH_FORMS(#Name " " #S " to " #D, S, loop_##Name##_##D##_##S)
#define SWEEP_AXPY(D, S) BOTH_FORMS("Axpy " #S " to " #D, S, loop_Axpy_##D##_##S)
#define SWEEP_CAST(D, S, mode, expression) BOTH_FORMS("Cast " #S " to " #D " " #mode, S, loop_Cast_##D##_##S##_##mode)
#define SWEEP_CASTING(Name, D, S, expression) BOTH_FORMS(#Name " " #S " to " #D, S, loop_##Name##_##D##_##S)
#define SWEEP_COMPARE(T, mode, expression) BOTH_FORMS("Compare " #T " " #mode, T, loop_Compare_##T##_##mode)
#define SWEEP_COMPARES(T, mode, expression) BOTH_FORMS("Compares " #T " " #mode, T, loop_Compares_##T##_##mode)
#define SWEEP_COUNT(Name, T) {#Name " " #T, data_of<T>, false, false, loop_of_##Name<T>},
#define SWEEP_SORTED(Name, T) {#Name " " #T, SweepData::sorted, false, false, loop_of_##Name<T>},
#define SWEEP_MASK(Name, T) {#Name " " #T, data_of<T>, true, false, loop_of_##Name<T>},
#define SWEEP_SPECIAL(Name, T) {#Name " " #T, data_of<T>, true, true, loop_of_##Name<T>},
constexpr SweepRow rows[] = {
#include "language/sweep_rows.h"
};

}  // namespace

const SweepRow* sweep_rows(uint32_t& count) {
    count = sizeof rows / sizeof rows[0];
    return rows;
}

}  // namespace bench
