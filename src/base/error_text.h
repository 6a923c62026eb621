// SPDX-License-Identifier: Apache-2.0
// The sentences behind error codes: written by `fail` where a failure is known, collected per thread (or per process
// when the configuration says so), handed out newest first by aclGetRecentErrMsg. Any thread.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

// Remembers `text` under the message id that belongs to `code` and returns the code as a Status.
Status fail_text(int code, std::string_view text);

// fail(107000, "count {} is larger than destMax {}", count, max). The format is checked when the call is compiled; all
// else happens in one function, so that a call costs little to compile and few instructions where nothing fails.
Status vfail(int code, fmt::string_view format, fmt::format_args arguments);
template <class... Arguments>
Status fail(int code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return vfail(code, format, fmt::make_format_args(arguments...));
}
// A pointer as an argument of `fail`: {} prints its address.
inline const void* as_address(const void* pointer) { return pointer; }

// "Argument NAME must not be null", with the id programs search for.
Status fail_null(std::string_view argument);

// Takes the collected text; nullptr when there is none. The pointer stays valid until this thread's next call.
const char* take_error_text();

// The sentence of this thread's last failure, without its id and code.
const std::string& newest_error_text() noexcept;

enum class ErrorTextScope { thread, process };
void set_error_text_scope(ErrorTextScope scope);

}  // namespace canopy
