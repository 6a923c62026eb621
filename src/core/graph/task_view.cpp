// SPDX-License-Identifier: Apache-2.0
#include "core/graph/task_view.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "builtin/arguments.h"
#include "core/kernel/kernel.h"
#include "core/process/builtin_kernels.h"
#include "foundation/readable_name.h"

namespace canopy {
namespace {

// 64-bit numbers and addresses are strings: JSON readers keep only 53 bits of a number.
std::string address_text(DeviceAddress address) { return fmt::format("{:#x}", address.value()); }
std::string word_text(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string readable_size(std::uint64_t bytes) {
    constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    return fmt::format("{:.4g} {}", value, units[unit]);
}

// Bytes in memory order, in groups of eight.
std::string bytes_text(const void* bytes, std::size_t size) {
    std::string text;
    text.reserve(size * 2 + size / 8);
    for (std::size_t i = 0; i < size; ++i) {
        if (i != 0 && i % 8 == 0) text += ' ';
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<const unsigned char*>(bytes)[i]);
    }
    return text;
}

const char* core_name(CoreType core) {
    switch (core) {
        case CoreType::aicore:
            return "aicore";
        case CoreType::cube:
            return "cube";
        case CoreType::vector:
            return "vector";
        case CoreType::mix:
            return "mix";
        case CoreType::cpu:
            return "cpu";
    }
    return "unknown";
}

// A disabled kernel may no longer have a launch; its function has the name.
std::string name_of_function(Handle function) {
    const Pin<Function> found = Runtime::instance().functions.pin(function);
    return found ? found->info.name : std::string();
}

void describe_arguments(const LaunchWork& launch, Json& details) {
    if (launch.arguments_in_place())
        details["arguments"] = fmt::format("in device memory at {}", address_text(launch.arguments()));
    else if (const void* bytes = launch.host_arguments())
        details["arguments"] = bytes_text(bytes, launch.arguments_size);
    for (std::uint16_t i = 0; launch.placeholders != nullptr && i < launch.placeholder_count; ++i)
        details["placeholders"].push_back({{"address_offset", launch.placeholders[i].address_offset},
                                           {"data_offset", launch.placeholders[i].data_offset}});
}

void describe_attributes(const LaunchWork& launch, Json& details) {
    details["block_offset"] = launch.block_offset;
    details["dynamic_bytes"] = launch.dynamic_size;
    details["batch"] = launch.batch;
    if (launch.timeout == UINT64_MAX)
        details["timeout"] = "none";
    else if (launch.timeout == 0)
        details["timeout"] = "default";
    else
        details["timeout"] = fmt::format("{} ns", launch.timeout);
    if (launch.kernel == nullptr || launch.kernel->info == nullptr) return;
    const KernelInfo& info = *launch.kernel->info;
    if (info.core == CoreType::mix) details["cores_of_group"] = {info.cube_ratio, info.vector_ratio};
    if (!info.source.empty()) details["file"] = info.source;
}

void describe_launch(const LaunchWork& launch, ViewDetail detail, TaskView& view) {
    const KernelInfo* info = launch.kernel ? launch.kernel->info : nullptr;
    const std::string name = info ? info->name : std::string("?");
    view.label = readable_name(name);
    view.details["kernel"] = name;
    view.details["blocks"] = launch.blocks;
    if (info) view.details["core"] = core_name(info->core);
    view.details["argument_bytes"] = launch.arguments_size;
    if (detail == ViewDetail::summary) return;
    describe_arguments(launch, view.details);
    describe_attributes(launch, view.details);
}

const char* direction_of(const CopyWork& copy) {
    Runtime& runtime = Runtime::instance();
    const bool from = runtime.device_of(copy.source) != nullptr, to = runtime.device_of(copy.destination) != nullptr;
    if (from) return to ? "device to device" : "device to host";
    return to ? "host to device" : "host to host";
}

void describe_copy(const Command& command, TaskView& view) {
    const CopyWork& copy = command.copy;
    const std::uint64_t bytes = copy.width * copy.height;
    view.label = fmt::format("copy {}", readable_size(bytes));
    view.details["bytes"] = bytes;
    view.details["direction"] = command.snapshot ? "host to device" : direction_of(copy);
    view.details["destination"] = address_text(copy.destination);
    view.details["source"] =
        command.snapshot ? std::string("bytes taken when it was called") : address_text(copy.source);
    if (copy.height <= 1) return;
    view.details["rows"] = copy.height;
    view.details["row_bytes"] = copy.width;
    view.details["destination_pitch"] = copy.destination_pitch;
    view.details["source_pitch"] = copy.source_pitch;
}

void describe_fill(const FillWork& fill, TaskView& view) {
    const std::uint64_t bytes = fill.count * fill.element_size;
    view.label = fmt::format("fill {}", readable_size(bytes));
    view.details["bytes"] = bytes;
    view.details["destination"] = address_text(fill.destination);
    view.details["value"] = word_text(fill.value);
}

template <class Arguments>
Arguments arguments_of(const LaunchWork& launch) {
    Arguments arguments;
    std::memcpy(&arguments, launch.host_arguments(), sizeof(arguments));
    return arguments;
}

void describe_reduce(const Reduction& reduce, TaskView& view) {
    view.kind = "reduce";
    constexpr std::array operations = {"sum", "maximum", "minimum", "equal"};
    constexpr std::array types = {"int8", "int16", "int32", "float16", "float32", "bfloat16"};
    const std::string operation = operations.at(static_cast<std::size_t>(reduce.operation));
    view.label = fmt::format("reduce {}", operation);
    view.details["operation"] = operation;
    view.details["element"] = types.at(static_cast<std::size_t>(reduce.type));
    view.details["elements"] = reduce.count;
    view.details["destination"] = address_text(DeviceAddress(reduce.destination));
    view.details["source"] = address_text(DeviceAddress(reduce.source));
}

void describe_random(const RandomTask& random, TaskView& view) {
    constexpr std::array functions = {"dropout mask", "uniform", "normal", "truncated normal"};
    constexpr std::array types = {"float32", "float16", "bfloat16", "int32", "uint32", "int64", "uint64"};
    view.kind = view.label = "random numbers";
    view.details["function"] = functions.at(static_cast<std::size_t>(random.function));
    view.details["element"] = types.at(static_cast<std::size_t>(random.type));
    if (!random.count.in_memory) view.details["elements"] = random.count.value_or_address;
    view.details["destination"] = address_text(DeviceAddress(random.result));
    view.details["counter"] = address_text(DeviceAddress(random.counter));
}

void describe_slot_copy(const SlotCopy& copy, TaskView& view) {
    view.kind = "copy with offsets";
    view.label = fmt::format("copy {} behind pointers", readable_size(copy.count));
    view.details["bytes"] = copy.count;
    view.details["destination_slot"] = address_text(DeviceAddress(copy.destination_slot));
    view.details["destination_offset"] = copy.destination_offset;
    view.details["source_slot"] = address_text(DeviceAddress(copy.source_slot));
    view.details["source_offset"] = copy.source_offset;
}

// True if the launch is one of a kernel of the runtime itself.
bool describe_builtin(const Command& command, TaskView& view) {
    switch (builtin_of(command)) {
        case Builtin::none:
            return false;
        case Builtin::reduce:
            describe_reduce(arguments_of<Reduction>(command.launch), view);
            break;
        case Builtin::random:
            describe_random(arguments_of<RandomTask>(command.launch), view);
            break;
        case Builtin::copy_behind_slots:
            describe_slot_copy(arguments_of<SlotCopy>(command.launch), view);
            break;
    }
    return true;
}

void describe_value(const ValueWork& value, bool waits, TaskView& view) {
    constexpr std::array conditions = {">=", "==", "and", "nor"};
    const char* condition = conditions.at(static_cast<std::size_t>(value.condition));
    view.label = waits ? fmt::format("wait value {} {}", condition, word_text(value.value))
                       : fmt::format("write value {}", word_text(value.value));
    view.details["address"] = address_text(value.address);
    view.details["value"] = word_text(value.value);
    if (waits) view.details["condition"] = condition;
}

void describe_call(const CallWork& call, TaskView& view) {
    view.details["function"] = address_text(device_address(reinterpret_cast<const void*>(call.function)));
    view.details["argument"] = address_text(device_address(call.argument));
}

void describe_switch(const SwitchWork& work, TaskView& view) {
    constexpr std::array comparisons = {"==", "!=", ">", ">=", "<", "<="};
    const char* comparison = comparisons.at(static_cast<std::size_t>(work.comparison));
    view.label = "switch stream";
    view.details["left"] = address_text(work.left);
    view.details["right"] = address_text(work.right);
    view.details["comparison"] = comparison;
    view.details["bits"] = work.wide ? 64 : 32;
    view.details["starts_lane"] = work.lane;
}

void describe_jump(const JumpWork& jump, TaskView& view) {
    view.label = "switch by index";
    view.details["labels"] = jump.count;
    view.details["index"] = address_text(jump.index);
    for (std::uint32_t i = 0; i < jump.count; ++i) {
        const GraphPlace place = jump.targets[i];
        if (place.lane > INT32_MAX || place.position > INT32_MAX) continue;  // a label handle until the build ends
        view.details["targets"].push_back({{"lane", place.lane}, {"position", place.position}});
    }
}

void describe_start(const StartWork& start, TaskView& view) { view.details["starts_lane"] = start.lane; }

// Describes the effect of a command.
void describe_command(const Command& command, ViewDetail detail, TaskView& view) {
    const auto is = [&](const char* kind, const char* label) {
        view.kind = kind;
        view.label = label;
    };
    switch (command.opcode) {
        case Opcode::launch:
            if (describe_builtin(command, view)) return;
            is("kernel", "");
            return describe_launch(command.launch, detail, view);
        case Opcode::cpu_kernel:
            is("cpu kernel", "");
            return describe_launch(command.launch, detail, view);
        case Opcode::copy:
            is("copy", "");
            return describe_copy(command, view);
        case Opcode::fill:
            is("fill", "");
            return describe_fill(command.fill, view);
        case Opcode::signal:
            return is("signal", "notify");
        case Opcode::wait:
            return is("wait", "wait for notify");
        case Opcode::write_value:
            is("value write", "");
            return describe_value(command.value, false, view);
        case Opcode::wait_value:
            is("value wait", "");
            return describe_value(command.value, true, view);
        case Opcode::host_call:
            is("host function", "host function");
            return describe_call(command.call, view);
        case Opcode::inline_call:
        case Opcode::brief_call:
            return is("runtime function", "runtime function");
        case Opcode::replay:
            return is("graph", "another graph");
        case Opcode::nothing:
            return is("nothing", "nothing");
        case Opcode::condition:
            return is("condition", "condition");
        case Opcode::jump:
            is("label switch", "");
            return describe_jump(command.jump, view);
        case Opcode::switch_lane:
            is("stream switch", "");
            return describe_switch(command.switch_lane, view);
        case Opcode::start_lane:
            is("stream start", "activate stream");
            return describe_start(command.start, view);
        case Opcode::end_graph:
            return is("end", "end of the graph");
    }
    is("unknown", "unknown");
}

const char* role_name(EventRole role) {
    switch (role) {
        case EventRole::none:
            return "none";
        case EventRole::edge:
            return "orders tasks of the graph";
        case EventRole::bound:
            return "bound to the event at each replay";
        case EventRole::flagged:
            return "real at each replay";
    }
    return "none";
}

void describe_event(const GraphTask& task, TaskView& view) {
    const char* verb = task.type == TaskType::event_record ? "record"
                       : task.type == TaskType::event_wait ? "wait"
                                                           : "reset";
    view.kind = fmt::format("event {}", verb);
    view.label = fmt::format("{} event {}", verb, slot_of(task.event));
    view.details["event"] = slot_of(task.event);
    view.details["role"] = role_name(task.role);
    if (task.event_flag != 0) view.details["flag"] = task.event_flag;
}

bool is_event(const GraphTask& task) {
    return task.type == TaskType::event_record || task.type == TaskType::event_wait ||
           task.type == TaskType::event_reset;
}

// Shows the kind of a disabled task even though its command was removed.
void describe_disabled(const GraphTask& task, TaskView& view) {
    view.details["disabled"] = true;
    if (task.command.opcode != Opcode::nothing || is_event(task)) return;
    if (task.type == TaskType::kernel) {
        const std::string name = name_of_function(task.function);
        view.kind = "kernel";
        view.label = readable_name(name.empty() ? "kernel" : name);
        view.details["kernel"] = name;
    } else if (task.type == TaskType::value_write || task.type == TaskType::value_wait) {
        view.kind = view.label = task.type == TaskType::value_write ? "value write" : "value wait";
    }
}

// What a program attached: a JSON object or list as it is, other text as a string. Bytes that are not UTF-8 are
// replaced when the string is written.
Json text_or_json(std::string_view text) {
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    if (std::optional<Json> value = parse_json(text); value && value->is_structured()) return *value;
    return text;
}

}  // namespace

TaskView view_task(const GraphTask& task, ViewDetail detail) {
    TaskView view;
    view.details["task"] = task.command.task;
    view.details["sequence"] = task.sequence;
    view.details["kind"] = "";  // reserves its position
    if (is_event(task))
        describe_event(task, view);
    else
        describe_command(task.command, detail, view);
    if (task.group != no_group) view.details["group"] = task.group;
    if (task.disabled) describe_disabled(task, view);
    if (detail == ViewDetail::verbose && task.operator_info != nullptr)
        view.details["operator_info"] = bytes_text(task.operator_info, task.operator_info_size);
    if (!task.extended_info.empty()) view.details["extended_info"] = text_or_json(task.extended_info);
    view.details["kind"] = view.kind;
    return view;
}

void describe_condition(const GraphCondition& condition, TaskView& task) {
    constexpr std::array kinds = {"if", "while", "switch"};
    task.kind = "condition";
    task.label = kinds.at(static_cast<std::size_t>(condition.kind));
    task.details["kind"] = task.kind;
    task.details["condition"] = task.label;
    task.details["word"] = address_text(condition.selector);
    if (condition.assign_default) task.details["word_at_start"] = word_text(condition.default_value);
    task.details["graphs"] = condition.bodies.size();
}

}  // namespace canopy
