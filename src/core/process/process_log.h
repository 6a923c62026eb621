// SPDX-License-Identifier: Apache-2.0
// The log a process writes for its user: one file, opened by the first line that is important enough. Where and how
// much is chosen by ASCEND_GLOBAL_LOG_LEVEL (0 debug .. 3 error, 4 nothing; 3 by default), ASCEND_PROCESS_LOG_PATH
// (default ~/ascend/log) and ASCEND_SLOG_PRINT_TO_STDOUT=1, which sends the lines to the standard output instead.
// All functions from any thread.
#pragma once

#include <string_view>

namespace canopy {

enum class LogLevel : int { debug = 0, information = 1, warning = 2, error = 3 };

// Whether lines of that level are kept; cheap.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
// Adds one line with time, process and thread in front.
void write_log(LogLevel level, std::string_view place, std::string_view text) noexcept;

}  // namespace canopy
