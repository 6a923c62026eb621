// SPDX-License-Identifier: Apache-2.0
// Messages behind error codes: written by `fail` where an error is detected, collected per thread (or per process if so
// configured), and returned newest first by aclGetRecentErrMsg. Any thread.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/device_address.h"
#include "base/result.h"

namespace canopy {

// Records `text` under the message id for `code` and returns the code as a Status.
Status fail_text(int code, std::string_view text);

// fail(107000, "count {} is larger than destMax {}", count, max). The format is checked at compile time; everything
// else is in one out-of-line function, so a call compiles fast and adds few instructions to the success path.
Status vfail(int code, fmt::string_view format, fmt::format_args arguments);
template <class... Arguments>
Status fail(int code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return vfail(code, format, fmt::make_format_args(arguments...));
}
// Passes a pointer to `fail`: {} prints its address.
inline const void* as_address(const void* pointer) { return pointer; }

// "Argument NAME must not be null", with the message id that programs look for.
Status fail_null(std::string_view argument);

// Takes the collected messages; nullptr if there are none. The pointer stays valid until this thread's next call.
const char* take_error_text();

// The message of this thread's last failure, without id and code.
const std::string& newest_error_text() noexcept;
// Its id, like "EE1001", and its code; empty and 0 before the first.
struct NewestError {
    std::string_view id;
    int code = 0;
};
NewestError newest_error() noexcept;

enum class ErrorTextScope { thread, process };
void set_error_text_scope(ErrorTextScope scope);

}  // namespace canopy

// Printed like a pointer.
template <>
struct fmt::formatter<canopy::DeviceAddress> {
    constexpr auto parse(fmt::format_parse_context& context) const { return context.begin(); }
    auto format(canopy::DeviceAddress address, fmt::format_context& context) const {
        return fmt::format_to(context.out(), "{}", reinterpret_cast<const void*>(address.value()));
    }
};
