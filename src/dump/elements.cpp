// SPDX-License-Identifier: Apache-2.0
#include "dump/elements.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "foundation/half.h"

namespace canopy::dump {
namespace {

constexpr std::array types = {
    ElementType{1, "float", 4, "<f4", 0},       ElementType{2, "float16", 2, "<f2", 1},
    ElementType{3, "int8", 1, "|i1", 2},        ElementType{4, "uint8", 1, "|u1", 4},
    ElementType{5, "int16", 2, "<i2", 6},       ElementType{6, "uint16", 2, "<u2", 7},
    ElementType{7, "int32", 4, "<i4", 3},       ElementType{8, "int64", 8, "<i8", 9},
    ElementType{9, "uint32", 4, "<u4", 8},      ElementType{10, "uint64", 8, "<u8", 10},
    ElementType{11, "bool", 1, "|b1", 12},      ElementType{12, "double", 8, "<f8", 11},
    ElementType{16, "complex64", 8, "<c8", 16}, ElementType{17, "complex128", 16, "<c16", 17},
    ElementType{27, "bfloat16", 2, "<u2", 27},
};

enum : std::int32_t {
    float32 = 1,
    float16,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    int64,
    uint32,
    uint64,
    boolean,
    float64
};
enum : std::int32_t { complex64 = 16, complex128 = 17, bfloat16 = 27 };

struct Spelling {
    std::string_view text;
    std::int32_t type;
};
constexpr std::array spellings = {
    Spelling{"float", float32},
    Spelling{"double", float64},
    Spelling{"half", float16},
    Spelling{"_Float16", float16},
    Spelling{"__fp16", float16},
    Spelling{"bfloat16_t", bfloat16},
    Spelling{"__bf16", bfloat16},
    Spelling{"bool", boolean},
    Spelling{"char", int8},
    Spelling{"signed char", int8},
    Spelling{"int8_t", int8},
    Spelling{"unsigned char", uint8},
    Spelling{"uint8_t", uint8},
    Spelling{"short", int16},
    Spelling{"int16_t", int16},
    Spelling{"unsigned short", uint16},
    Spelling{"uint16_t", uint16},
    Spelling{"int", int32},
    Spelling{"int32_t", int32},
    Spelling{"unsigned int", uint32},
    Spelling{"uint32_t", uint32},
    Spelling{"long", int64},
    Spelling{"long long", int64},
    Spelling{"int64_t", int64},
    Spelling{"unsigned long", uint64},
    Spelling{"unsigned long long", uint64},
    Spelling{"uint64_t", uint64},
};

template <class T>
T read(const std::byte* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

struct Half {
    std::uint16_t bits;
    explicit operator double() const noexcept { return static_cast<double>(half_to_float(bits)); }
};
struct BrainFloat {
    std::uint16_t bits;
    explicit operator double() const noexcept { return static_cast<double>(bfloat16_to_float(bits)); }
};
// Complex numbers count by their magnitude.
template <class T>
struct Complex {
    T real, imaginary;
    explicit operator double() const noexcept {
        return std::hypot(static_cast<double>(real), static_cast<double>(imaginary));
    }
};

}  // namespace

const ElementType* element_type(std::int32_t number) noexcept {
    const auto* found =
        std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.number == number; });
    return found == types.end() ? nullptr : found;
}

const ElementType* element_type(std::string_view name) noexcept {
    const auto* found = std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.name == name; });
    return found == types.end() ? nullptr : found;
}

const ElementType* element_type_of_acl(std::int32_t acl) noexcept {
    const auto* found = std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.acl == acl; });
    return found == types.end() ? nullptr : found;
}

std::int32_t type_of_pointer(std::string_view parameter) noexcept {
    const auto trim = [&] {
        while (!parameter.empty() && parameter.front() == ' ') parameter.remove_prefix(1);
        while (!parameter.empty() && parameter.back() == ' ') parameter.remove_suffix(1);
    };
    trim();
    if (!parameter.ends_with('*')) return unknown_type;
    parameter.remove_suffix(1);
    trim();
    for (const std::string_view word : {"const ", "volatile ", "const "})
        if (parameter.starts_with(word)) parameter.remove_prefix(word.size());
    trim();
    for (const Spelling& spelling : spellings)
        if (spelling.text == parameter) return spelling.type;
    return unknown_type;
}

Statistics::Statistics(std::int32_t data_type) noexcept : type_(data_type) {}

double Statistics::norm() const noexcept { return std::sqrt(squares_); }

void Statistics::add_value(double value) noexcept {
    ++count_;
    if (std::isnan(value)) {
        ++nan_;
    } else if (std::isinf(value)) {
        ++(value < 0 ? negative_ : positive_);
    } else {
        largest_ = finite_ == 0 ? value : std::max(largest_, value);
        smallest_ = finite_ == 0 ? value : std::min(smallest_, value);
        ++finite_;
        sum_ += value;
        squares_ += value * value;
    }
}

template <class T>
void Statistics::add_values(std::span<const std::byte> bytes) noexcept {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T))
        add_value(static_cast<double>(read<T>(bytes.data() + at)));
}

void Statistics::add(std::span<const std::byte> bytes) noexcept {
    switch (type_) {
        case float32:
            return add_values<float>(bytes);
        case float16:
            return add_values<Half>(bytes);
        case int8:
            return add_values<std::int8_t>(bytes);
        case int16:
            return add_values<std::int16_t>(bytes);
        case uint16:
            return add_values<std::uint16_t>(bytes);
        case int32:
            return add_values<std::int32_t>(bytes);
        case int64:
            return add_values<std::int64_t>(bytes);
        case uint32:
            return add_values<std::uint32_t>(bytes);
        case uint64:
            return add_values<std::uint64_t>(bytes);
        case float64:
            return add_values<double>(bytes);
        case complex64:
            return add_values<Complex<float>>(bytes);
        case complex128:
            return add_values<Complex<double>>(bytes);
        case bfloat16:
            return add_values<BrainFloat>(bytes);
        default:
            return add_values<std::uint8_t>(bytes);
    }
}

std::string element_text(std::int32_t data_type, std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    switch (data_type) {
        case int64:
            return fmt::format("{}", read<std::int64_t>(at));
        case uint64:
            return fmt::format("{}", read<std::uint64_t>(at));
        case float64:
            return fmt::format("{}", read<double>(at));
        case float32:
            return fmt::format("{}", read<float>(at));
        case complex64:
            return fmt::format("{}{:+}j", read<float>(at), read<float>(at + 4));
        case complex128:
            return fmt::format("{}{:+}j", read<double>(at), read<double>(at + 8));
        default:
            break;
    }
    // The others are exact in a double.
    const ElementType* type = element_type(data_type);
    Statistics one(data_type);
    one.add(bytes.first(type ? type->size : 1));
    if (one.nan_count() != 0) return "nan";
    if (one.positive_infinities() != 0) return "inf";
    if (one.negative_infinities() != 0) return "-inf";
    return fmt::format("{:.9g}", one.largest());
}

}  // namespace canopy::dump
