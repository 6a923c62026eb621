// SPDX-License-Identifier: Apache-2.0
// Status and Result<T>: how every function inside Canopy reports errors. A Status is the interface's code (an aclError
// value, 0 for success); `fail` writes the message where the error occurs and keeps it per thread for
// aclGetRecentErrMsg (error_text.h). No cost on success.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

namespace canopy {

class [[nodiscard]] Status {
public:
    constexpr Status() noexcept = default;
    constexpr explicit Status(int code) noexcept : code_(code) {}

    [[nodiscard]] constexpr bool ok() const noexcept { return code_ == 0; }
    [[nodiscard]] constexpr int code() const noexcept { return code_; }

    // Marks an error as deliberately ignored.
    void ignore() const noexcept {}

private:
    int code_ = 0;
};

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {}
    Result(Status failure) : status_(failure) { assert(!failure.ok()); }

    [[nodiscard]] bool ok() const noexcept { return status_.ok(); }
    [[nodiscard]] Status status() const noexcept { return status_; }
    [[nodiscard]] T& value() & { return *value_; }
    [[nodiscard]] const T& value() const& { return *value_; }
    [[nodiscard]] T&& value() && { return std::move(*value_); }
    T* operator->() { return &*value_; }
    T& operator*() & { return *value_; }
    T&& operator*() && { return std::move(*value_); }

private:
    Status status_;
    std::optional<T> value_;
};

}  // namespace canopy

// Returns to the caller if `expression` (a Status) is a failure.
#define CANOPY_TRY(expression)                                                                                    \
    do {                                                                                                          \
        if (::canopy::Status canopy_try_status = (expression); !canopy_try_status.ok()) return canopy_try_status; \
    } while (false)
