// SPDX-License-Identifier: Apache-2.0
// What the interpreter of random programs computes with: numbers of the element types as long double, and the state
// that a step has to leave. Nothing here calls a function of the kernel language.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_REFERENCE_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_REFERENCE_H

#include "random_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

// What follows is compiled as device code as well, where it is not needed.
#pragma clang optimize off

namespace programs {

using Real = long double;
using Bytes = std::vector<uint8_t>;

inline constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();
inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

enum class Rounding { nearest_even, away, down, up, towards_zero, odd };

// The whole number next to x.
inline Real whole(Real x, Rounding rounding) {
    const Real below = std::floor(x);
    if (below == x || std::isnan(x)) return x;
    const Real fraction = x - below;
    bool upper = false;
    switch (rounding) {
        case Rounding::nearest_even:
            upper = fraction > 0.5L || (fraction == 0.5L && std::fmod(below, 2.0L) != 0);
            break;
        case Rounding::away:
            upper = fraction > 0.5L || (fraction == 0.5L && x > 0);
            break;
        case Rounding::down:
            break;
        case Rounding::up:
            upper = true;
            break;
        case Rounding::towards_zero:
            upper = x < 0;
            break;
        case Rounding::odd:
            upper = std::fmod(below, 2.0L) == 0;
            break;
    }
    return std::copysign(upper ? below + 1 : below, x);
}

inline Real largest_of(Type type) {
    return type == Type::f32 ? 0x1.fffffep127L : type == Type::bf16 ? 0x1.fep127L : 65504.0L;
}
// The distance of neighbouring numbers of a floating type around x.
inline Real unit_at(Type type, Real x) {
    const int digits = type == Type::f32 ? 23 : type == Type::bf16 ? 7 : 10, lowest = type == Type::f16 ? -14 : -126;
    if (!std::isfinite(x)) return 0;
    const int exponent = x == 0 ? lowest : std::max(std::ilogb(std::min(std::fabs(x), largest_of(type))), lowest);
    return std::ldexp(1.0L, exponent - digits);
}
inline bool is_floating(Type type) { return type == Type::f32 || type == Type::f16 || type == Type::bf16; }

// x as a number of a floating type; what is too large becomes infinite.
inline Real rounded(Type type, Real x, Rounding rounding = Rounding::nearest_even) {
    if (!std::isfinite(x) || x == 0) return x;
    const Real unit = unit_at(type, x), units = whole(x / unit, rounding);
    const Real result = std::copysign(units * unit, x);
    return std::fabs(result) > largest_of(type) ? std::copysign(infinity, x) : result;
}
inline Real f32(Real x) { return rounded(Type::f32, x); }

inline Real lowest_integer(Type type) {
    constexpr Real limits[] = {0, 0, 0, -0x1p63L, 0, -2147483648.0L, 0, -32768, 0, -128, 0};
    return limits[static_cast<int>(type)];
}
inline Real highest_integer(Type type) {
    constexpr Real limits[] = {
        0, 0, 0, 9223372036854775807.0L, 18446744073709551615.0L, 2147483647.0L, 4294967295.0L, 32767, 65535, 127, 255};
    return limits[static_cast<int>(type)];
}
// The nearest integer of the type to a whole number; NaN gives 0.
inline Real saturated(Type type, Real x) {
    return std::isnan(x) ? 0 : std::fmin(std::fmax(x, lowest_integer(type)), highest_integer(type));
}

inline Real half_value(uint16_t code) {
    const int exponent = code >> 10 & 31, fraction = code & 1023;
    Real value;
    if (exponent == 31)
        value = fraction == 0 ? infinity : not_a_number;
    else
        value = exponent == 0 ? std::ldexp(Real(fraction), -24) : std::ldexp(Real(1024 + fraction), exponent - 25);
    return (code & 0x8000) != 0 ? -value : value;
}
// The code of a number that half has.
inline uint16_t half_code(Real x) {
    const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    uint32_t code;
    if (std::isnan(x)) {
        code = 0x7e00;
    } else if (std::isinf(x)) {
        code = 0x7c00;
    } else if (x < std::ldexp(1.0L, -14)) {
        code = static_cast<uint32_t>(std::ldexp(x, 24));
    } else {
        const int exponent = std::ilogb(x);
        code =
            static_cast<uint32_t>(exponent + 15) << 10 | (static_cast<uint32_t>(std::ldexp(x, 10 - exponent)) & 1023);
    }
    return static_cast<uint16_t>(sign | code);
}

inline Real brain_value(uint16_t code) {
    const uint32_t bits = uint32_t{code} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
// The code of a number that bfloat16_t has.
inline uint16_t brain_code(Real x) {
    const auto value = static_cast<float>(x);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
}

template <class T>
T load(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

inline Real decode(Type type, const uint8_t* from) {
    switch (type) {
        case Type::f32:
            return load<float>(from);
        case Type::f16:
            return half_value(load<uint16_t>(from));
        case Type::bf16:
            return brain_value(load<uint16_t>(from));
        case Type::i64:
            return load<int64_t>(from);
        case Type::u64:
            return load<uint64_t>(from);
        case Type::i32:
            return load<int32_t>(from);
        case Type::u32:
            return load<uint32_t>(from);
        case Type::i16:
            return load<int16_t>(from);
        case Type::u16:
            return load<uint16_t>(from);
        case Type::i8:
            return load<int8_t>(from);
        default:
            return load<uint8_t>(from);
    }
}

// Integers, wide enough for a product of two elements.
__extension__ typedef __int128 Whole;

inline Whole whole_of(Type type, const uint8_t* from) {
    switch (type) {
        case Type::i64:
            return load<int64_t>(from);
        case Type::u64:
            return load<uint64_t>(from);
        default:
            return static_cast<Whole>(decode(type, from));
    }
}
inline Whole clamped(Type type, Whole x) {
    const auto low = static_cast<Whole>(lowest_integer(type)), high = static_cast<Whole>(highest_integer(type));
    return x < low ? low : x > high ? high : x;
}
// The number of the type with the low bits of x.
inline Whole wrapped(Type type, Whole x) {
    const auto bits = static_cast<uint64_t>(x);
    uint8_t bytes[8];
    std::memcpy(bytes, &bits, sizeof bytes);
    return whole_of(type, bytes);
}

// Integers keep their low bits.
inline void encode(Type type, uint8_t* to, Real value) {
    if (type == Type::f32) {
        const auto number = static_cast<float>(value);
        std::memcpy(to, &number, sizeof number);
    } else if (type == Type::f16) {
        const uint16_t code = half_code(rounded(type, value));
        std::memcpy(to, &code, sizeof code);
    } else if (type == Type::bf16) {
        const uint16_t code = brain_code(rounded(type, value));
        std::memcpy(to, &code, sizeof code);
    } else {
        const auto bits = static_cast<uint64_t>(static_cast<Whole>(value));
        std::memcpy(to, &bits, size_of(type));
    }
}

// The state a step has to leave, made from the state before it. Elements are exact, near a value, or unspecified; bytes
// that a step says nothing about stay as they are.
class Expected {
public:
    explicit Expected(const uint8_t* before) : before_(before), after_(before, before + state_bytes) {}

    // Before the step.
    Real read(Type type, uint32_t byte) const { return decode(type, before_ + byte); }
    Whole whole(Type type, uint32_t byte) const { return whole_of(type, before_ + byte); }
    template <class T>
    T bits(uint32_t byte) const {
        return load<T>(before_ + byte);
    }
    bool bit(uint32_t byte, uint32_t index) const { return (before_[byte + index / 8] >> index % 8 & 1) != 0; }

    // A value that is rounded once; any NaN will do for a NaN.
    void write(Type type, uint32_t byte, Real value) {
        if (is_floating(type) && std::isnan(value))
            near(type, byte, value, 0);
        else
            encode(type, after_.data() + byte, value);
    }
    // The low bits of an integer.
    void write_whole(Type type, uint32_t byte, Whole value) {
        const auto bits = static_cast<uint64_t>(value);
        std::memcpy(after_.data() + byte, &bits, size_of(type));
    }
    // Within a distance of an exact value.
    void near(Type type, uint32_t byte, Real value, Real distance) {
        uncertain_.push_back({byte, type, value, distance, false});
    }
    void near_in_units(Type type, uint32_t byte, Real value, Real units) {
        near(type, byte, value, units * unit_at(type, value));
    }
    void any(Type type, uint32_t byte) { uncertain_.push_back({byte, type, 0, 0, true}); }
    template <class T>
    void set_bits(uint32_t byte, T value) {
        std::memcpy(after_.data() + byte, &value, sizeof value);
    }
    void copy(uint32_t to, uint32_t from, uint32_t bytes) { std::memcpy(after_.data() + to, before_ + from, bytes); }
    void put(uint32_t to, const uint8_t* from, uint32_t bytes) { std::memcpy(after_.data() + to, from, bytes); }
    void set_bit(uint32_t byte, uint32_t index, bool value) {
        uint8_t& target = after_[byte + index / 8];
        target = static_cast<uint8_t>((target & ~(1u << index % 8)) | (value ? 1u << index % 8 : 0u));
    }
    // For the tests of the tests.
    void flip(uint32_t byte) { after_[byte] ^= 0x10; }
    bool disturb_first_number() {
        for (auto& item : uncertain_)
            if (!item.anything && std::isfinite(item.value)) {
                item.value += 3 * item.distance + unit_at(item.type, item.value);
                return true;
            }
        return false;
    }

    // Whether the step has an effect that is known.
    bool is_definite() const {
        return std::any_of(uncertain_.begin(), uncertain_.end(), [](const auto& item) { return !item.anything; }) ||
               std::memcmp(after_.data(), before_, state_bytes) != 0;
    }

    // Empty if this is the state that was expected.
    std::string difference(const uint8_t* actual) {
        for (const auto& item : uncertain_) {
            const Real value = decode(item.type, actual + item.byte);
            if (!item.anything && !is_near(item, value)) return describe(item.byte, item.type, value, item);
            std::memcpy(after_.data() + item.byte, actual + item.byte, size_of(item.type));
        }
        if (std::memcmp(after_.data(), actual, state_bytes) == 0) return {};
        uint32_t at = 0;
        while (after_[at] == actual[at]) ++at;
        return describe_byte(at, actual);
    }

private:
    struct Uncertain {
        uint32_t byte;
        Type type;
        Real value, distance;
        bool anything;
    };

    static bool is_near(const Uncertain& item, Real actual) {
        if (std::isnan(item.value)) return std::isnan(actual);
        if (std::isinf(item.value)) return actual == item.value;
        if (std::isinf(actual))
            return std::fabs(item.value) + item.distance + unit_at(item.type, largest_of(item.type)) / 2 >=
                       largest_of(item.type) &&
                   std::signbit(actual) == std::signbit(item.value);
        return std::fabs(actual - item.value) <= item.distance;
    }

    static std::string place(uint32_t byte);
    static std::string number(Real value) {
        char text[64];
        std::snprintf(text, sizeof text, "%.10Lg", value);
        return text;
    }
    static std::string describe(uint32_t byte, Type, Real actual, const Uncertain& item) {
        return place(byte) + " is " + number(actual) + ", expected " + number(item.value) + " within " +
               number(item.distance);
    }
    std::string describe_byte(uint32_t byte, const uint8_t* actual) const;

    const uint8_t* before_;
    Bytes after_;
    std::vector<Uncertain> uncertain_;
};

// The slot of a byte of the state, its type, and how programs are printed.
inline Type type_of_slot(uint32_t slot) {
    uint32_t end = float_slots;
    if (slot < end) return Type::f32;
    if (slot < (end += half_slots)) return Type::f16;
    if (slot < (end += word_slots)) return Type::i32;
    if (slot < (end += short_slots)) return Type::i16;
    if (slot < (end += byte_slots)) return Type::u8;
    if (slot < (end += brain_slots)) return Type::bf16;
    return slot < end + long_slots ? Type::i64 : Type::u32;
}
inline uint32_t slots_of(Storage storage) {
    constexpr uint32_t count[] = {float_slots, half_slots,  word_slots, short_slots,
                                  byte_slots,  brain_slots, long_slots};
    return count[storage];
}
inline uint32_t first_slot(Storage storage) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < storage; ++i) first += slots_of(static_cast<Storage>(i));
    return first;
}
inline std::string name_of_place(uint32_t byte) {
    if (byte >= registers_byte) return "register byte " + std::to_string(byte - registers_byte);
    if (byte >= outbox_byte) return "outbox byte " + std::to_string(byte - outbox_byte);
    constexpr const char* names[] = {"float", "half", "word", "short", "byte", "brain", "long", "offsets"};
    const uint32_t slot = byte / slot_pitch, inside = byte % slot_pitch;
    uint32_t kind = 0, first = 0;
    while (kind < storages && slot >= first + slots_of(static_cast<Storage>(kind)))
        first += slots_of(static_cast<Storage>(kind++));
    return names[kind] + std::to_string(slot - first) + "+" + std::to_string(inside);
}
inline std::string Expected::place(uint32_t byte) {
    return name_of_place(byte) + " (byte " + std::to_string(byte) + ")";
}
inline std::string Expected::describe_byte(uint32_t byte, const uint8_t* actual) const {
    std::string text =
        place(byte) + " is " + std::to_string(int{actual[byte]}) + ", expected " + std::to_string(int{after_[byte]});
    if (byte >= buffer_bytes || byte % slot_pitch >= slot_bytes) return text;
    const Type type = type_of_slot(byte / slot_pitch);
    const uint32_t at = byte / slot_pitch * slot_pitch + byte % slot_pitch / size_of(type) * size_of(type);
    return text + " (as an element: " + number(decode(type, actual + at)) + ", expected " +
           number(decode(type, after_.data() + at)) + ")";
}

// A function of the number of an element and of its byte in each operand.
class ElementBody {
public:
    template <class Body>
    ElementBody(const Body& body)
        : body_(&body), call_([](const void* called, uint32_t index, const uint32_t* at) {
              (*static_cast<const Body*>(called))(index, at);
          }) {}
    void operator()(uint32_t index, const uint32_t* at) const { call_(body_, index, at); }

private:
    const void* body_;
    void (*call_)(const void*, uint32_t, const uint32_t*);
};

// Calls body(number, byte of each operand) for each element that a step selects. `types` are those of the operands
// at[0], at[1], ...; the widest says how many lanes a repeat has.
inline void for_each_element(const Step& step, std::initializer_list<Type> types, const ElementBody& body) {
    uint32_t at[6] = {}, sizes[6] = {}, operands = 0, widest = 1;
    for (Type type : types) {
        sizes[operands++] = size_of(type);
        widest = std::max(widest, size_of(type));
    }
    if (step.form == counted) {
        for (uint32_t i = 0; i < step.count; ++i) {
            for (uint32_t k = 0; k < operands; ++k) at[k] = step.at[k].byte + i * sizes[k];
            body(i, at);
        }
        return;
    }
    const uint32_t lanes = 256 / widest;
    for (uint32_t repeat = 0; repeat < step.repeats; ++repeat)
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            const bool chosen =
                step.form == leading_lanes ? lane < step.mask[0] : (step.mask[lane / 64] >> lane % 64 & 1) != 0;
            if (!chosen) continue;
            for (uint32_t k = 0; k < operands; ++k) {
                const uint32_t per_block = 32 / sizes[k];
                at[k] = step.at[k].byte + (repeat * step.at[k].repeat + lane / per_block * step.at[k].block) * 32 +
                        lane % per_block * sizes[k];
            }
            body(repeat * lanes + lane, at);
        }
}

// Choices of the generator.
class Random {
public:
    explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15ull + 1) {}
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(engine_() % limit); }
    uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }
    bool chance(uint32_t percent) { return below(100) < percent; }
    uint64_t bits() { return engine_(); }
    double real() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

private:
    std::mt19937_64 engine_;
};

// A part of a random slot of the type with room for `bytes`, in none of the slots of `others`.
inline Operand place(Random& random, Type type, uint32_t bytes, std::initializer_list<Operand> others = {}) {
    const Storage storage = storage_of(type);
    const uint32_t used = (bytes + 31) / 32 * 32;
    EXPECT_LE(used, slot_bytes);
    for (;;) {
        const uint32_t slot = first_slot(storage) + random.below(slots_of(storage));
        const bool taken = std::any_of(others.begin(), others.end(),
                                       [slot](const Operand& other) { return other.byte / slot_pitch == slot; });
        if (taken) continue;
        const uint32_t free_blocks = (slot_bytes - used) / 32;
        const uint32_t start = random.chance(50) ? 0 : random.below(free_blocks + 1) * 32;
        return {slot * slot_pitch + start, slot_bytes - start, 1, 8};
    }
}
inline Operand whole_slot(uint32_t slot) { return {slot * slot_pitch, slot_bytes, 1, 8}; }

// A count of elements that fits in a slot: mostly short, with tails.
inline uint32_t some_count(Random& random, uint32_t most) {
    if (random.chance(10)) return random.between(1, most);
    return random.between(1, std::min(most, 150u));
}

// The mask and the number of repeats of a step.
inline void plan_mask(Random& random, Step& step, uint32_t lanes) {
    step.repeats = static_cast<uint8_t>(random.between(1, 3));
    if (step.form == leading_lanes) {
        step.mask[0] = random.chance(30) ? lanes : random.between(1, lanes);
        return;
    }
    step.mask[0] = random.bits() & (random.chance(50) ? random.bits() : ~uint64_t{0});
    step.mask[1] = random.bits();
    if (lanes < 64) step.mask[0] &= (uint64_t{1} << lanes) - 1;
    if (lanes <= 64) step.mask[1] = 0;
    if (random.chance(20)) step.mask[0] = lanes < 64 ? (uint64_t{1} << lanes) - 1 : ~uint64_t{0};
    step.mask[0] |= 1;
}

// The strides of an operand and its place. A destination's repeats do not overlap.
inline void plan_strided(Random& random, Step& step, uint32_t index, Type type, uint32_t lanes, bool is_target,
                         std::initializer_list<Operand> others) {
    const uint32_t blocks = lanes * size_of(type) / 32;
    uint32_t block = 1, repeat = blocks, extent;
    do {
        if (is_target) {
            block = random.chance(70) ? 1 : 2;
            repeat = blocks * block + random.below(2);
            if (block == 2 && step.repeats == 2 && random.chance(40)) repeat = 1;  // between the blocks of the first
        } else {
            block = random.chance(60) ? 1 : random.below(4);
            repeat = random.chance(60) ? blocks : random.below(20);
        }
        extent = ((step.repeats - 1) * repeat + (blocks - 1) * block + 1) * 32;
    } while (extent > slot_bytes);
    step.at[index] = place(random, type, extent, others);
    step.at[index].block = static_cast<uint16_t>(block);
    step.at[index].repeat = static_cast<uint16_t>(repeat);
}

}  // namespace programs

#pragma clang optimize on

#endif
