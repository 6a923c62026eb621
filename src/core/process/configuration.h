// SPDX-License-Identifier: Apache-2.0
// aclInit's JSON file: its keys and their allowed values. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/dump_configuration.h"
#include "core/process/profiler_section.h"
#include "core/process/settings.h"

namespace canopy {

// The contents of a configuration file. An absent value means the runtime's default.
struct Configuration {
    std::optional<std::int32_t> default_device;
    bool process_wide_error_text = false;
    std::optional<std::uint32_t> operator_queue_limit;
    std::optional<std::uint64_t> aicore_stack_size;
    std::optional<std::uint64_t> simt_stack_size;
    std::optional<std::uint64_t> simt_divergence_stack_size;
    std::optional<std::uint64_t> simt_printf_fifo_size;
    std::optional<std::uint64_t> simd_printf_fifo_size_per_core;
    std::optional<DumpConfiguration> dump;    // the section "dump", unless it is missing or empty
    std::optional<ProfilerSection> profiler;  // if it is switched on
    SettingsChange settings;                  // the section "canopy"
    std::string normalised;  // the whole file without blanks and in a fixed order, for comparison; "{}" without a file
};

// Parses a configuration file. Unknown keys are ignored, because programs may share the file for their own use.
// 100006 if it is not a JSON object or is nested deeper than 10. For a value that is not allowed: 100009 in the dump
// section, 148048 for max_opqueue_num, 100000 elsewhere.
Result<Configuration> parse_configuration(std::string_view text);

}  // namespace canopy
