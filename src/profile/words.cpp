// SPDX-License-Identifier: Apache-2.0
#include "profile/words.h"

namespace canopy::profile {
namespace {

std::string_view core_word(CoreKind core) noexcept {
    switch (core) {
        case CoreKind::vector:
            return "AI_VECTOR_CORE";
        case CoreKind::mix:
            return "MIX_AIC";
        case CoreKind::cpu:
            return "AI_CPU";
        case CoreKind::cube:
        case CoreKind::none:
            break;
    }
    return "AI_CORE";
}

}  // namespace

std::string_view task_type_word(TaskObject task) noexcept {
    switch (task.type) {
        case TaskType::kernel:
            return core_word(core_kind(task));
        case TaskType::cpu_kernel:
            return "AI_CPU";
        case TaskType::copy:
            return "MEMCPY_ASYNC";
        case TaskType::fill:
            return "MEMSET_ASYNC";
        case TaskType::signal:
            return "EVENT_RECORD";
        case TaskType::wait:
            return "EVENT_WAIT";
        case TaskType::write_value:
            return "WRITE_VALUE";
        case TaskType::wait_value:
            return "WAIT_VALUE";
        case TaskType::host_call:
            return "HOST_FUNC";
        case TaskType::runtime_call:
            return "PLACE_HOLDER_SQE";
        case TaskType::replay:
            return "MODEL_EXECUTE";
        case TaskType::condition:
            return "STREAM_SWITCH";
        case TaskType::control:
            return "STREAM_ACTIVE";
        case TaskType::mark:
            return "PROFILER_TRACE";
        case TaskType::count_:
            break;
    }
    return "UNKNOWN";
}

std::string_view copy_word(CopyKind kind) noexcept {
    switch (kind) {
        case CopyKind::host_to_host:
            return "host to host";
        case CopyKind::host_to_device:
            return "host to device";
        case CopyKind::device_to_host:
            return "device to host";
        case CopyKind::device_to_device:
            return "device to device";
        case CopyKind::between_devices:
            return "between devices";
        case CopyKind::unknown:
            break;
    }
    return "other";
}

std::string_view level_of(std::string_view function) noexcept {
    if (function.starts_with("aclnn") || function.starts_with("aclop")) return "node";
    if (function.starts_with("aclmdl")) return "model";
    if (function.starts_with("rt") && !function.starts_with("rt_")) return "runtime";
    return "acl";
}

std::string_view task_name(const ProfileFile& file, const Record& record) noexcept {
    const TaskObject task = TaskObject::of(record.object);
    const std::string_view kernel = is_kernel(task.type) ? file.name(record) : std::string_view();
    return kernel.empty() ? task_type_word(task) : kernel;
}

std::string_view mark_form_word(MarkForm form) noexcept {
    switch (form) {
        case MarkForm::moment:
            return "marker";
        case MarkForm::pushed:
            return "push/pop";
        case MarkForm::range:
            return "start/end";
        case MarkForm::moment_on_stream:
            return "marker_ex";
    }
    return "N/A";
}

}  // namespace canopy::profile
