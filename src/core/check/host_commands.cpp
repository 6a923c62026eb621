// SPDX-License-Identifier: Apache-2.0
#include "core/check/host_commands.h"

#include <cstring>

namespace canopy {
namespace {

using check::CommandUse;
using check::HostCommand;
using check::UseKind;

constexpr std::size_t most_arguments = 4096;  // bytes that are searched for pointers

check::FenceChange change_of(SignalMode mode) {
    switch (mode) {
        case SignalMode::raise:
            return nullptr;
        case SignalMode::set:
            return [](std::uint64_t old, std::uint64_t operand) { return signalled(SignalMode::set, old, operand); };
        case SignalMode::add:
            return [](std::uint64_t old, std::uint64_t operand) { return signalled(SignalMode::add, old, operand); };
        case SignalMode::bit_or:
            return [](std::uint64_t old, std::uint64_t operand) { return signalled(SignalMode::bit_or, old, operand); };
        case SignalMode::bit_and:
            return
                [](std::uint64_t old, std::uint64_t operand) { return signalled(SignalMode::bit_and, old, operand); };
    }
    return nullptr;
}

check::FenceCondition condition_of(WaitMode mode) {
    switch (mode) {
        case WaitMode::at_least:
            return nullptr;
        case WaitMode::equal:
            return [](std::uint64_t value, std::uint64_t operand) { return value == operand; };
        case WaitMode::less:
            return [](std::uint64_t value, std::uint64_t operand) { return value < operand; };
        case WaitMode::greater:
            return [](std::uint64_t value, std::uint64_t operand) { return value > operand; };
        case WaitMode::mask:
            return [](std::uint64_t value, std::uint64_t operand) { return (value & operand) == operand; };
    }
    return nullptr;
}

check::FenceCondition condition_of(ValueCondition condition) {
    switch (condition) {
        case ValueCondition::at_least:
            return nullptr;
        case ValueCondition::equal:
            return [](std::uint64_t value, std::uint64_t operand) { return value == operand; };
        case ValueCondition::bits_and:
            return [](std::uint64_t value, std::uint64_t operand) { return (value & operand) != 0; };
        case ValueCondition::bits_nor:
            return [](std::uint64_t value, std::uint64_t operand) { return ~(value | operand) != 0; };
    }
    return nullptr;
}

void describe_launch(const LaunchWork& work, const Device& device, HostCommand& described) {
    described.kind = HostCommand::Kind::kernel;
    if (work.kernel && work.kernel->info) described.kernel = work.kernel->info->name;
    const auto* bytes = static_cast<const char*>(work.host_arguments());
    if (work.arguments_in_place()) {
        described.uses[0] = {work.arguments().value(), work.arguments_size, 1, 0, UseKind::read};
        described.use_count = 1;
    }
    if (bytes == nullptr) return;
    for (std::size_t at = 0; at + 8 <= work.arguments_size && at < most_arguments; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at, sizeof word);
        const DeviceAddress address{word};
        if (!device.owns(address)) continue;
        if (const std::optional<DeviceRange> range = device.find(address))
            described.reachable.emplace_back(range->base.value(), range->base.value() + range->size);
    }
}

void describe_word(const ValueWork& work, HostCommand& described) {
    described.fence = work.address.value();
    described.value = work.value;
    std::uint64_t now = 0;
    if (read_device(&now, work.address, sizeof now).ok()) described.initial = now;
}

}  // namespace

HostCommand describe(const Command& command, const check::HostCall& call, const Device& device) {
    HostCommand described;
    described.call = call;
    described.task = command.task;
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            describe_launch(command.launch, device, described);
            break;
        case Opcode::copy: {
            const CopyWork& copy = command.copy;
            described.copy = true;
            described.uses[0] = {copy.destination.value(), copy.width, copy.height, copy.destination_pitch,
                                 UseKind::write};
            described.uses[1] = {copy.source.value(), copy.width, copy.height, copy.source_pitch, UseKind::read};
            described.use_count = command.snapshot ? 1 : 2;
            break;
        }
        case Opcode::fill:
            described.copy = true;
            described.uses[0] = {command.fill.destination.value(), command.fill.count * command.fill.element_size, 1, 0,
                                 UseKind::write};
            described.use_count = 1;
            break;
        case Opcode::signal:
            described.kind = HostCommand::Kind::signal;
            described.fence = fence_name(command.signal.fence);
            described.value = command.signal.value;
            described.change = change_of(command.signal.mode);
            break;
        case Opcode::wait:
            described.kind = HostCommand::Kind::wait;
            described.fence = fence_name(command.wait.fence);
            described.value = command.wait.value;
            described.condition = condition_of(command.wait.mode);
            described.clear = command.wait.clear;
            break;
        case Opcode::write_value:
            described.kind = HostCommand::Kind::signal;
            describe_word(command.value, described);
            described.change = change_of(SignalMode::set);
            // Words do not race with each other.
            described.uses[0] = {command.value.address.value(), sizeof(std::uint64_t), 1, 0, UseKind::atomic};
            described.use_count = 1;
            break;
        case Opcode::wait_value:
            described.kind = HostCommand::Kind::wait;
            describe_word(command.value, described);
            described.condition = condition_of(command.value.condition);
            break;
        case Opcode::host_call:
            described.kind = HostCommand::Kind::function;
            break;
        case Opcode::inline_call:  // without an argument it only takes a place
            if (command.call.argument != nullptr) described.kind = HostCommand::Kind::function;
            break;
        case Opcode::replay:
            described.kind = HostCommand::Kind::replay;
            for (std::uint32_t index = 0; index < command.replay.binding_count; ++index)
                described.bindings.emplace_back(fence_name(command.replay.bindings[index].fence),
                                                command.replay.bindings[index].value);
            break;
        default:
            break;
    }
    return described;
}

}  // namespace canopy
