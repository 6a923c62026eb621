// SPDX-License-Identifier: Apache-2.0
// The data types of dump files, whose numbers are not those of aclDataType, and statistics of elements. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace canopy::dump {

struct ElementType {
    std::int32_t number;     // in dump files
    std::string_view name;   // "float16"
    std::size_t size;        // bytes
    std::string_view numpy;  // type of an .npy file: "<f2"
    std::int32_t acl;        // the aclDataType
};

// nullptr if there is none: elements of an unknown type are read as bytes (uint8).
const ElementType* element_type(std::int32_t number) noexcept;
const ElementType* element_type(std::string_view name) noexcept;
const ElementType* element_type_of_acl(std::int32_t acl) noexcept;
inline constexpr std::int32_t unknown_type = 0, byte_type = 4;

// The type of what a parameter points to, from its text in C++: "float *" gives float.
std::int32_t type_of_pointer(std::string_view parameter) noexcept;

// Of the elements added so far. Values that are not finite are counted, and not part of the others.
class Statistics {
public:
    explicit Statistics(std::int32_t data_type) noexcept;
    // Whole elements; bytes behind the last whole one are ignored.
    void add(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] bool has_values() const noexcept { return finite_ != 0; }
    [[nodiscard]] double largest() const noexcept { return largest_; }
    [[nodiscard]] double smallest() const noexcept { return smallest_; }
    [[nodiscard]] double average() const noexcept { return finite_ ? sum_ / static_cast<double>(finite_) : 0; }
    [[nodiscard]] double norm() const noexcept;  // l2
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t nan_count() const noexcept { return nan_; }
    [[nodiscard]] std::uint64_t negative_infinities() const noexcept { return negative_; }
    [[nodiscard]] std::uint64_t positive_infinities() const noexcept { return positive_; }

private:
    void add_value(double value) noexcept;
    template <class T>
    void add_values(std::span<const std::byte> bytes) noexcept;

    std::int32_t type_;
    double largest_ = 0, smallest_ = 0, sum_ = 0, squares_ = 0;
    std::uint64_t count_ = 0, finite_ = 0, nan_ = 0, negative_ = 0, positive_ = 0;
};

// One element as text; `bytes` holds at least one.
std::string element_text(std::int32_t data_type, std::span<const std::byte> bytes);

}  // namespace canopy::dump
