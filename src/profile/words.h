// SPDX-License-Identifier: Apache-2.0
// The words for what records hold, as the field's output files have them.
//
// Threads: any.
#pragma once

#include <string_view>

#include "profile/profile_file.h"

namespace canopy::profile {

// "AI_VECTOR_CORE", "MEMCPY_ASYNC", ...
std::string_view task_type_word(TaskObject task) noexcept;
// "host to device", ...
std::string_view copy_word(CopyKind kind) noexcept;
// "acl", "runtime", "node": the layer that a function belongs to.
std::string_view level_of(std::string_view function) noexcept;
// The kernel, or the word for the type of another task. Never empty.
std::string_view task_name(const ProfileFile& file, const Record& record) noexcept;
std::string_view mark_form_word(MarkForm form) noexcept;

constexpr bool is_kernel(TaskType type) noexcept { return type == TaskType::kernel || type == TaskType::cpu_kernel; }
constexpr bool is_wait(TaskType type) noexcept { return type == TaskType::wait || type == TaskType::wait_value; }
constexpr CopyKind copy_kind(TaskObject task) noexcept {
    return task.how <= static_cast<std::uint8_t>(CopyKind::between_devices) ? static_cast<CopyKind>(task.how)
                                                                            : CopyKind::unknown;
}
constexpr CoreKind core_kind(TaskObject task) noexcept {
    return task.how <= static_cast<std::uint8_t>(CoreKind::cpu) ? static_cast<CoreKind>(task.how) : CoreKind::none;
}

}  // namespace canopy::profile
