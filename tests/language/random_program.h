// SPDX-License-Identifier: Apache-2.0
// A random program as data: steps, each one call of the kernel language on tensors in the unified buffer, and the
// memory they work on. The kernel performs the steps; the host interprets the same steps. What a program can see is
// its state: the slots in the unified buffer with gaps between them, an area of global memory that copies write to, and
// a few registers. The kernel stores the state after every step.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_PROGRAM_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_PROGRAM_H

#include <kernel_operator.h>

#include <cstdint>

namespace programs {

enum class Type : uint8_t { f32, f16, bf16, i64, u64, i32, u32, i16, u16, i8, u8 };

constexpr uint32_t size_of(Type type) {
    constexpr uint32_t sizes[] = {4, 2, 2, 8, 8, 4, 4, 2, 2, 1, 1};
    return sizes[static_cast<int>(type)];
}

template <class T>
struct TypeOf;
#define TYPE_OF(T, value)                   \
    template <>                             \
    struct TypeOf<T> {                      \
        static constexpr Type type = value; \
    };
TYPE_OF(float, Type::f32)
TYPE_OF(half, Type::f16)
TYPE_OF(bfloat16_t, Type::bf16)
TYPE_OF(int64_t, Type::i64)
TYPE_OF(uint64_t, Type::u64)
TYPE_OF(int32_t, Type::i32)
TYPE_OF(uint32_t, Type::u32)
TYPE_OF(int16_t, Type::i16)
TYPE_OF(uint16_t, Type::u16)
TYPE_OF(int8_t, Type::i8)
TYPE_OF(uint8_t, Type::u8)
TYPE_OF(bool, Type::u8)
#undef TYPE_OF
template <class T>
inline constexpr Type type_of = TypeOf<T>::type;

// How the elements of a step are chosen.
enum Form : uint8_t { counted, leading_lanes, mask_bits };

// Part of a slot. Strides count blocks of 32 bytes.
struct Operand {
    uint32_t byte;  // in the state
    uint32_t room;  // bytes up to the end of the slot
    uint16_t block;
    uint16_t repeat;
};

struct Step {
    uint16_t operation;
    Form form;
    uint8_t repeats;
    uint8_t mode;  // what it means depends on the operation
    uint32_t count;
    uint64_t mask[2];
    double scalar;
    uint32_t shape[4];
    Operand at[6];  // the destinations come first
};

inline constexpr uint32_t most_steps = 40;

// The slots. Types of the same width and kind share them.
inline constexpr uint32_t slot_bytes = 2048, gap_bytes = 64, slot_pitch = slot_bytes + gap_bytes;
inline constexpr uint32_t float_slots = 6, half_slots = 6, word_slots = 4, short_slots = 4, byte_slots = 4;
inline constexpr uint32_t brain_slots = 4, long_slots = 4;
// Never written: different multiples of 4, of 2, of 32 and of 8, for access by offsets.
inline constexpr uint32_t offsets_of_words =
    float_slots + half_slots + word_slots + short_slots + byte_slots + brain_slots + long_slots;
inline constexpr uint32_t offsets_of_shorts = offsets_of_words + 1, offsets_of_blocks = offsets_of_words + 2;
inline constexpr uint32_t offsets_of_longs = offsets_of_words + 3;
inline constexpr uint32_t slots = offsets_of_words + 4;

inline constexpr uint32_t buffer_bytes = slots * slot_pitch;
inline constexpr uint32_t outbox_bytes = 2048, register_bytes = 64;
inline constexpr uint32_t outbox_byte = buffer_bytes, registers_byte = outbox_byte + outbox_bytes;
inline constexpr uint32_t state_bytes = registers_byte + register_bytes;

// The unified buffer after the slots: temporary buffers of the calls, whose content is not looked at.
inline constexpr uint32_t scratch_byte = 81920, scratch_bytes = 16384;
static_assert(buffer_bytes <= scratch_byte && buffer_bytes % 32 == 0);

// Fresh numbers in global memory, by storage and by range.
enum Storage : uint8_t { floats, halves, words, shorts, bytes_, brains, longs, storages };
enum Pool : uint8_t { moderate, unit, positive, wide, special, pools };
inline constexpr uint32_t pool_bytes = slot_bytes;

constexpr Storage storage_of(Type type) {
    constexpr Storage of[] = {floats, halves, brains, longs, longs, words, words, shorts, shorts, bytes_, bytes_};
    return of[static_cast<int>(type)];
}

// Global memory: the steps, the pools, the state, and the state after each step.
inline constexpr uint32_t steps_byte = 64;
inline constexpr uint32_t pools_byte = (steps_byte + most_steps * sizeof(Step) + 63) / 64 * 64;
inline constexpr uint32_t first_state_byte = pools_byte + storages * pools * pool_bytes;
inline constexpr uint32_t log_byte = first_state_byte + state_bytes;
constexpr uint32_t memory_bytes(uint32_t steps) { return log_byte + steps * state_bytes; }
constexpr uint32_t pool_at(Storage storage, uint32_t pool) {
    return pools_byte + (storage * pools + pool) * pool_bytes;
}

}  // namespace programs

#endif
