// SPDX-License-Identifier: Apache-2.0
// aclInit's JSON file: what keys there are, and what each may say. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/settings.h"

namespace canopy {

// What a configuration file says. An absent value means the default of the runtime.
struct Configuration {
    std::optional<std::int32_t> default_device;
    bool process_wide_error_text = false;
    std::optional<std::uint32_t> operator_queue_limit;
    std::optional<std::uint64_t> aicore_stack_size;
    std::optional<std::uint64_t> simt_stack_size;
    std::optional<std::uint64_t> simt_divergence_stack_size;
    std::optional<std::uint64_t> simt_printf_fifo_size;
    std::optional<std::uint64_t> simd_printf_fifo_size_per_core;
    bool dump = false;        // the file has a dump section that is not empty
    bool profiler = false;    // the file has a profiler section that is switched on
    SettingsChange settings;  // the section "canopy"
    std::string normalised;   // the whole text without blanks and in one order, for comparison; "{}" without a file
};

// Reads the text of a configuration file. Keys it does not know are left alone, because a file may be shared with
// programs that read it themselves.
// 100006 when it is no JSON object or nested deeper than 10; when a value is not allowed: 100009 in the dump section,
// 100010 in the profiler section, 148048 for max_opqueue_num, 100000 elsewhere.
Result<Configuration> parse_configuration(std::string_view text);

}  // namespace canopy
