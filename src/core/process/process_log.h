// SPDX-License-Identifier: Apache-2.0
// The process's log for its user: one file, opened at the first line whose level is enabled. Controlled by
// ASCEND_GLOBAL_LOG_LEVEL (0 debug .. 3 error, 4 nothing; 3 by default), ASCEND_PROCESS_LOG_PATH (default ~/ascend/log)
// and ASCEND_SLOG_PRINT_TO_STDOUT=1, which sends the lines to standard output instead. Any thread.
#pragma once

#include <string_view>

namespace canopy {

enum class LogLevel : int { debug = 0, information = 1, warning = 2, error = 3 };

// True if lines of that level are written; cheap.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
// Writes one line, prefixed with time, process and thread.
void write_log(LogLevel level, std::string_view place, std::string_view text) noexcept;

}  // namespace canopy
