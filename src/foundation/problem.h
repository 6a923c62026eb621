// SPDX-License-Identifier: Apache-2.0
// How code shared by the runtime, the dispatcher and canopy-cc reports failures: as a message, without an error code
// and without thread state. Each of the three adds the error code or prefix of its own interface.
//
//     if (Problem problem = check(file)) return problem;
//     return Problem{"section ", index, " lies outside the file"};
//
// Threads: values.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace canopy {

// A part of a message: text or an integer.
class MessagePart {
public:
    MessagePart(const char* text) noexcept : text_(text) {}
    MessagePart(std::string_view text) noexcept : text_(text) {}
    MessagePart(const std::string& text) noexcept : text_(text) {}
    template <std::integral Number>
    MessagePart(Number number) noexcept
        : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr - digits_)) {}

    [[nodiscard]] std::string_view text() const noexcept {
        return size_ != 0 ? std::string_view(digits_, size_) : text_;
    }

private:
    std::string_view text_;
    char digits_[20] = {};
    std::size_t size_ = 0;
};

std::string join(std::initializer_list<MessagePart> parts);

// Why something failed; converts to false if nothing did.
class [[nodiscard]] Problem {
public:
    Problem() noexcept = default;
    Problem(std::initializer_list<MessagePart> parts) : message_(join(parts)) {}

    explicit operator bool() const noexcept { return !message_.empty(); }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

private:
    std::string message_;
};

// A value, or the problem that prevented it.
template <class T>
class [[nodiscard]] Expected {
public:
    Expected(T value) : value_(std::move(value)) {}
    Expected(Problem problem) : problem_(std::move(problem)) {}

    [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
    [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
    [[nodiscard]] const std::string& message() const noexcept { return problem_.message(); }
    [[nodiscard]] T& value() & { return *value_; }
    [[nodiscard]] const T& value() const& { return *value_; }
    [[nodiscard]] T&& value() && { return std::move(*value_); }
    T* operator->() { return &*value_; }
    const T* operator->() const { return &*value_; }
    T& operator*() & { return *value_; }
    const T& operator*() const& { return *value_; }
    T&& operator*() && { return std::move(*value_); }

private:
    Problem problem_;
    std::optional<T> value_;
};

}  // namespace canopy
