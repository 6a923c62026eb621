// SPDX-License-Identifier: Apache-2.0
// Tensors made of numbers: arithmetic progressions, and random numbers of the Philox 4x32 generator.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_NUMBERS_H
#define CANOPY_KERNEL_HIGH_LEVEL_NUMBERS_H

#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/vector_fill.h"

namespace AscendC {

constexpr uint16_t PHILOX_KEY_SIZE = 2;
constexpr uint16_t PHILOX_COUNTER_SIZE = 4;
using PhiloxKey = uint32_t[PHILOX_KEY_SIZE];
using PhiloxCounter = uint32_t[PHILOX_COUNTER_SIZE];

// Rows of `column` numbers; a row takes `stride` numbers of the sequence.
struct PhiloxRandomParams {
    uint32_t stride;
    uint32_t row;
    uint32_t column;
};

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline void progression(const LocalTensor<T>& dst, T first, T step, int32_t count, Where where) {
    static_assert(is_countable<T>, "Arange: this element type is not supported on this chip");
    if (on_cube_core()) return;
    if constexpr (checked) {
        check_limit("Arange", "count", count, 1, INT32_MAX, where);
        if (!(widen(step) >= 0)) fail(where, "Arange: the difference is negative");
    }
    const Instruction instruction(PIPE_V, "Arange", where, CANOPY_CHECK_FILL);
    check_count(dst, count, "Arange", "the destination", where);
    T* to = dst.GetPhyAddr();
    const auto start = widen(first), difference = widen(step);
    if constexpr (is_floating<T>) {
        CANOPY_VECTOR_LOOP
        for (int32_t i = 0; i < count; ++i) to[i] = narrow<T>(start + static_cast<float>(i) * difference);
    } else {
        using M = Modular<T>;
        CANOPY_VECTOR_LOOP
        for (int32_t i = 0; i < count; ++i)
            to[i] = static_cast<T>(static_cast<M>(start) + static_cast<M>(i) * static_cast<M>(difference));
    }
}

// Sequences of four words each, for counters that follow each other.
inline constexpr uint32_t philox_batch = 16;

struct PhiloxWords {
    uint32_t word[4][philox_batch];
};

// The words for `batch` counters from `counter` + `index` on.
template <uint16_t rounds>
inline void philox_words(const uint32_t* key, const uint32_t* counter, uint64_t index, PhiloxWords& words) {
    const uint64_t low = counter[0] | uint64_t{counter[1]} << 32, high = counter[2] | uint64_t{counter[3]} << 32;
    uint32_t(&w)[4][philox_batch] = words.word;
    for (uint32_t i = 0; i < philox_batch; ++i) {
        const uint64_t sum = low + index + i, carried = high + (sum < low ? 1 : 0);
        w[0][i] = static_cast<uint32_t>(sum);
        w[1][i] = static_cast<uint32_t>(sum >> 32);
        w[2][i] = static_cast<uint32_t>(carried);
        w[3][i] = static_cast<uint32_t>(carried >> 32);
    }
    uint32_t first_key = key[0], second_key = key[1];
    for (uint16_t round = 0; round < rounds; ++round) {
        CANOPY_VECTOR_LOOP
        for (uint32_t i = 0; i < philox_batch; ++i) {
            const uint64_t even = uint64_t{0xD2511F53u} * w[0][i], odd = uint64_t{0xCD9E8D57u} * w[2][i];
            w[0][i] = static_cast<uint32_t>(odd >> 32) ^ w[1][i] ^ first_key;
            w[2][i] = static_cast<uint32_t>(even >> 32) ^ w[3][i] ^ second_key;
            w[1][i] = static_cast<uint32_t>(odd);
            w[3][i] = static_cast<uint32_t>(even);
        }
        first_key += 0x9E3779B9u;
        second_key += 0xBB67AE85u;
    }
}

// Numbers in [0, 1) have the upper 23 bits of the fraction from the word.
template <class T>
inline T philox_number(uint32_t word) {
    if constexpr (is_same<T, float>)
        return bits_as<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f;
    else
        return static_cast<T>(word);
}

// `count` numbers from the words of counter + index on.
template <uint16_t rounds, class T>
inline void philox_run(T* to, uint64_t count, const uint32_t* key, const uint32_t* counter, uint64_t index) {
    PhiloxWords words;
    T numbers[4 * philox_batch];
    for (uint64_t done = 0; done < count; done += 4 * philox_batch) {
        philox_words<rounds>(key, counter, index + done / 4, words);
        for (uint32_t i = 0; i < philox_batch; ++i)
            for (uint32_t j = 0; j < 4; ++j) numbers[4 * i + j] = philox_number<T>(words.word[j][i]);
        __builtin_memcpy(to + done, numbers, smaller<uint64_t>(sizeof numbers, (count - done) * sizeof(T)));
    }
}

template <uint16_t rounds, class T>
inline void philox(const LocalTensor<T>& dst, const uint32_t* key, const uint32_t* counter,
                   const AscendC::PhiloxRandomParams& params, Where where) {
    static_assert(any_type_chip, "PhiloxRandom: only chip 3510 has it");
    static_assert(rounds == 7 || rounds == 10, "PhiloxRandom: Rounds is 7 or 10");
    static_assert(is_any_of<T, uint32_t, int32_t, float>, "PhiloxRandom: elements are uint32_t, int32_t or float");
    if (on_cube_core()) return;
    if constexpr (checked)
        if (params.row == 0 || params.column == 0) fail(where, "PhiloxRandom: the shape has no elements");
    const Instruction instruction(PIPE_V, "PhiloxRandom", where, CANOPY_CHECK_FILL);
    check_count(dst, int64_t{params.row} * params.column, "PhiloxRandom", "the destination", where);
    for (uint64_t row = 0; row < params.row; ++row)
        philox_run<rounds>(dst.GetPhyAddr() + row * params.column, params.column, key, counter,
                           row * params.stride / 4);
}

}  // namespace canopy::kernel

namespace AscendC {

// firstValue + i * diffValue.
template <typename T>
inline void Arange(const LocalTensor<T>& dst, const canopy::kernel::only_if<true, T> firstValue,
                   const canopy::kernel::only_if<true, T> diffValue, const int32_t count, CANOPY_WHERE) {
    canopy::kernel::progression(dst, firstValue, diffValue, count, where);
}
template <typename T>
inline void ArithProgression(const LocalTensor<T>& dstLocal, const canopy::kernel::only_if<true, T> firstValue,
                             const canopy::kernel::only_if<true, T> diffValue, const int32_t count, CANOPY_WHERE) {
    canopy::kernel::progression(dstLocal, firstValue, diffValue, count, where);
}

// Random words, or numbers in [0, 1).
template <uint16_t Rounds = 7, typename T>
inline void PhiloxRandom(const LocalTensor<T>& dstLocal, const PhiloxKey& philoxKey, const PhiloxCounter& philoxCounter,
                         uint16_t count, CANOPY_WHERE) {
    canopy::kernel::philox<Rounds>(dstLocal, philoxKey, philoxCounter, {count, 1, count}, where);
}
template <uint16_t Rounds = 7, typename T>
inline void PhiloxRandom(const LocalTensor<T>& dstLocal, const PhiloxKey& philoxKey, const PhiloxCounter& philoxCounter,
                         const PhiloxRandomParams& params, CANOPY_WHERE) {
    canopy::kernel::philox<Rounds>(dstLocal, philoxKey, philoxCounter, params, where);
}

}  // namespace AscendC

#endif
