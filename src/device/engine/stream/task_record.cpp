// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/task_record.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <optional>

#include "device/engine/stream/fence.h"

namespace canopy {
namespace {

using profile::CopyKind;
using profile::CoreKind;
using profile::Detail;
using profile::Kind;
using profile::TaskObject;
using profile::TaskType;

constexpr std::size_t most_devices = 64;
std::array<std::atomic<const Driver*>, most_devices> devices;

std::optional<std::size_t> device_of(DeviceAddress address) noexcept {
    for (std::size_t index = 0; index < most_devices; ++index)
        if (const Driver* driver = devices[index].load(std::memory_order_acquire); driver && driver->owns(address))
            return index;
    return std::nullopt;
}

CopyKind kind_of(DeviceAddress to, DeviceAddress from) noexcept {
    const auto target = device_of(to), source = device_of(from);
    if (target && source) return *target == *source ? CopyKind::device_to_device : CopyKind::between_devices;
    if (target) return CopyKind::host_to_device;
    return source ? CopyKind::device_to_host : CopyKind::host_to_host;
}

CoreKind core_of(CoreType core) noexcept {
    switch (core) {
        case CoreType::cube:
            return CoreKind::cube;
        case CoreType::mix:
        case CoreType::aicore:
            return CoreKind::mix;
        case CoreType::cpu:
            return CoreKind::cpu;
        case CoreType::vector:
            return CoreKind::vector;
    }
    return CoreKind::none;
}

struct Description {
    TaskType type;
    const char* name;
};

// Of everything but kernels.
Description describe(Opcode opcode) noexcept {
    switch (opcode) {
        case Opcode::copy:
            return {TaskType::copy, "copy"};
        case Opcode::fill:
            return {TaskType::fill, "fill"};
        case Opcode::signal:
            return {TaskType::signal, "record event"};
        case Opcode::wait:
            return {TaskType::wait, "wait for event"};
        case Opcode::write_value:
            return {TaskType::write_value, "write value"};
        case Opcode::wait_value:
            return {TaskType::wait_value, "wait for value"};
        case Opcode::host_call:
            return {TaskType::host_call, "host function"};
        case Opcode::inline_call:
        case Opcode::brief_call:
            return {TaskType::runtime_call, "runtime"};
        case Opcode::replay:
            return {TaskType::replay, "graph"};
        case Opcode::condition:
            return {TaskType::condition, "condition"};
        default:
            return {TaskType::control, "control"};
    }
}

profile::Record record_of(Kind kind, const Command& command, const TaskNotes& notes, Ticks end,
                          std::uint32_t device) noexcept {
    TaskObject object;
    object.device = static_cast<std::uint8_t>(device);
    object.flags = notes.flags;
    profile::Record record{};
    if (is_kernel(command.opcode)) {
        const Kernel& kernel = *command.launch.kernel;
        object.type = command.opcode == Opcode::launch ? TaskType::kernel : TaskType::cpu_kernel;
        object.how =
            static_cast<std::uint8_t>(command.opcode == Opcode::launch ? core_of(kernel.info->core) : CoreKind::cpu);
        if (kernel.fused) object.flags |= profile::task_fused;
        if (kernel.built_in != 0) object.flags |= profile::task_built_in;
        record.name = record::kept_name_number(kernel.record_name, kernel.info->name);
        record.argument = command.launch.blocks;
    } else {
        const Description description = describe(command.opcode);
        object.type = description.type;
        record.name = record::name_number_of_literal(description.name);
    }
    record.begin = notes.began;
    record.duration = record::duration_between(notes.began, end);
    record.kind = static_cast<std::uint64_t>(kind);
    record.object = object.packed();
    record.link = notes.link;
    return record;
}

void write_detail(std::uint64_t link, Detail what, std::uint64_t value) noexcept {
    profile::Record record{};
    record.begin = value;
    record.kind = static_cast<std::uint64_t>(Kind::detail);
    record.object = static_cast<std::uint32_t>(what);
    record.link = link;
    record::write(record);
}

// Bytes of a copy or fill; 0 for other commands.
std::uint64_t bytes_of(const Command& command) noexcept {
    if (command.opcode == Opcode::copy) return command.copy.width * command.copy.height;
    return command.opcode == Opcode::fill ? command.fill.count * command.fill.element_size : 0;
}

void write_record(profile::Record& record, const Command& command) noexcept {
    if (command.opcode == Opcode::copy) {
        TaskObject object = TaskObject::of(record.object);
        object.how =
            static_cast<std::uint8_t>(command.snapshot ? kind_of(command.copy.destination, DeviceAddress{})
                                                       : kind_of(command.copy.destination, command.copy.source));
        record.object = object.packed();
    }
    const std::uint64_t bytes = bytes_of(command);
    if (!is_kernel(command.opcode))
        record.argument = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    record::write(record);
    if (bytes > UINT32_MAX) write_detail(record.link, Detail::bytes, bytes);
}

void write_details(const TaskNotes& notes) noexcept {
    if (notes.waits_for != 0) write_detail(notes.link, Detail::waits_for, notes.waits_for);
    if (notes.met) write_detail(notes.link, Detail::released_by, notes.met->released_by());
    if (notes.code != 0) write_detail(notes.link, Detail::code, static_cast<std::uint64_t>(notes.code));
}

}  // namespace

void add_recorded_device(const Driver& driver, std::uint32_t index) noexcept {
    if (index < most_devices) devices[index].store(&driver, std::memory_order_release);
}

void remove_recorded_device(const Driver& driver) noexcept {
    for (auto& device : devices) {
        const Driver* expected = &driver;
        device.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }
}

void name_recorded_thread(profile::ThreadRole role, const char* what, std::uint32_t number,
                          std::uint32_t device) noexcept {
    char name[48];
    const int size = std::snprintf(name, sizeof name, "%s %u of device %u", what, number, device);
    record::name_thread(role, number, {name, static_cast<std::size_t>(std::max(size, 0))});
}

void write_task(const Command& command, const TaskNotes& notes, Ticks end, std::uint32_t device) noexcept {
    profile::Record record = record_of(Kind::task, command, notes, end, device);
    write_record(record, command);
    write_details(notes);
}

void write_node(const Command& command, const TaskNotes& notes, Ticks end, std::uint32_t device,
                GraphPlace place) noexcept {
    profile::Record record = record_of(Kind::node, command, notes, end, device);
    write_record(record, command);
    write_detail(notes.link, Detail::place, std::uint64_t{place.lane} << 32 | place.position);
    write_details(notes);
}

}  // namespace canopy
