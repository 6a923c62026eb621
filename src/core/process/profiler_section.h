// SPDX-License-Identifier: Apache-2.0
// What a profiling session can be told: the values that aclprofSetConfig takes, and the section "profiler" of aclInit's
// file. Threads: values; functions from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

class Json;

// The bits of a session's mask, with the numbers of the interface.
namespace collects {
inline constexpr std::uint64_t calls = 0x1, task_time = 0x2, core_metrics = 0x4, cpu_kernels = 0x8, cache = 0x10,
                               collectives = 0x20, training_trace = 0x40, marks = 0x80, runtime_calls = 0x100,
                               graph_calls_l0 = 0x200, task_time_l0 = 0x800, task_memory = 0x1000,
                               task_time_l2 = 0x2000, operator_attributes = 0x4000, task_time_l3 = 0x8000,
                               graph_calls_l1 = 0x1000000, call_sums = 0x400000000, kernel_shapes = 0x800000000;
inline constexpr std::uint64_t known = calls | task_time | core_metrics | cpu_kernels | cache | collectives |
                                       training_trace | marks | runtime_calls | graph_calls_l0 | task_time_l0 |
                                       task_memory | task_time_l2 | operator_attributes | task_time_l3 |
                                       graph_calls_l1 | call_sums | kernel_shapes;
}  // namespace collects

inline constexpr std::uint32_t no_core_metrics = 255;
[[nodiscard]] constexpr bool known_core_metrics(std::uint32_t metrics) noexcept {
    return metrics <= 8 || metrics == no_core_metrics;
}

// The settings of aclprofSetConfig that have an effect here, with their numbers there.
inline constexpr int setting_storage_limit = 1;
inline constexpr int setting_path = 16;

// Checks a value of aclprofSetConfig. 100000 for a type that does not exist, 100010 for a value that is not allowed
// (100000 for NTS_METRICS).
Status check_session_setting(int type, std::string_view value);
// The bytes of "200MB"; nullopt if the text is not a storage limit.
std::optional<std::uint64_t> storage_limit_of(std::string_view value) noexcept;

struct ProfilerSection {
    std::string output;  // empty: not said
    std::uint64_t mask = collects::calls | collects::task_time;
    std::uint32_t metrics = no_core_metrics;
    std::optional<std::uint64_t> storage_limit;  // bytes
};

// Reads the section of a file of `file_size` bytes into `section` if it is there and switched on. 100000 for a value of
// the wrong type or one that is not allowed.
Status read_profiler_section(const Json& root, std::size_t file_size, std::optional<ProfilerSection>& section);

}  // namespace canopy
