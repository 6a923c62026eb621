// SPDX-License-Identifier: Apache-2.0
// Storage of a graph's commands: one array and one piece of memory for payloads per lane, in the order they run.
#include "device/engine/graph/graph_commands.h"

#include <cstring>
#include <new>

#include "base/error_text.h"
#include "device/engine/stream/payload.h"
#include "device/opaque_pointer.h"

namespace canopy {
namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t rounded(std::size_t size) noexcept { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

std::size_t GraphCommands::payload_size(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            return command.launch.arguments_in_place() ? 0 : command.launch.arguments_size;
        case Opcode::copy:
            return command.snapshot ? command.copy.width : 0;
        case Opcode::condition:
            return command.condition.count * sizeof(Executable*);
        case Opcode::jump:
            return command.jump.count * sizeof(GraphPlace);
        default:
            return 0;
    }
}

// Copies what the command points at and makes it point at the copy.
void GraphCommands::store_payload(Command& command, char* to) noexcept {
    const std::size_t size = payload_size(command);
    if (size == 0) return;
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            if (to != command.launch.host_arguments()) std::memcpy(to, command.launch.host_arguments(), size);
            if (command.launch.placeholder_count != 0) fill_placeholders(command.launch, to);
            command.launch.set_arguments(to);
            command.launch.placeholders = nullptr;
            command.launch.placeholder_count = 0;
            break;
        case Opcode::copy:
            if (device_address(to) != command.copy.source) std::memcpy(to, opaque_pointer(command.copy.source), size);
            command.copy.source = device_address(to);
            break;
        case Opcode::condition:
            std::memcpy(to, command.condition.bodies, size);
            command.condition.bodies = reinterpret_cast<Executable* const*>(to);
            break;
        default:
            std::memcpy(to, command.jump.targets, size);
            command.jump.targets = reinterpret_cast<const GraphPlace*>(to);
            break;
    }
}

void GraphCommands::retain(const Command& command) noexcept {
    if (command.opcode == Opcode::signal && command.signal.fence) command.signal.fence->retain();
    if (command.opcode == Opcode::wait && command.wait.fence) command.wait.fence->retain();
    if (command.opcode != Opcode::condition) return;
    for (std::uint32_t i = 0; i < command.condition.count; ++i) command.condition.bodies[i]->retain();
}

void GraphCommands::release(const Command& command) noexcept {
    if (command.opcode == Opcode::signal && command.signal.fence) command.signal.fence->release();
    if (command.opcode == Opcode::wait && command.wait.fence) command.wait.fence->release();
    if (command.opcode != Opcode::condition) return;
    for (std::uint32_t i = 0; i < command.condition.count; ++i) command.condition.bodies[i]->release();
}

GraphCommands::~GraphCommands() {
    for (const Stored& lane : lanes_)
        for (const Command& command : lane.commands) release(command);
}

Status GraphCommands::add_lane(std::span<const Command> commands) {
    std::size_t total = 0;
    for (const Command& command : commands) total += rounded(payload_size(command));
    Stored lane;
    lane.memory.reset(new (std::nothrow) char[total + alignment]);
    if (!lane.memory) return fail(207001, "out of host memory for the arguments of a graph");
    lane.commands.reserve(commands.size());
    lane.room.reserve(commands.size());
    char* next = lane.memory.get();
    for (const Command& command : commands) {
        Command& stored = lane.commands.emplace_back(command);
        const std::size_t room = rounded(payload_size(command));
        lane.room.push_back(static_cast<std::uint32_t>(room));
        store_payload(stored, next);
        retain(stored);
        next += room;
    }
    lanes_.push_back(std::move(lane));
    return {};
}

void GraphCommands::keep(Stored& lane, std::uint32_t position, std::unique_ptr<char[]> memory) noexcept {
    for (auto& [owner, kept] : lane.grown)
        if (owner == position) return kept.swap(memory);
    char* const raw = memory.get();
    try {
        lane.grown.emplace_back(position, std::move(memory));
    } catch (...) {
        if (memory.get() == raw) memory.release();  // out of memory: leaked until the process ends
    }
}

void GraphCommands::replace(GraphPlace place, const Command& command, std::unique_ptr<char[]> own) noexcept {
    Stored& lane = lanes_[place.lane];
    Command& stored = lane.commands[place.position];
    Command fresh = command;
    retain(fresh);
    release(stored);
    const std::size_t size = payload_size(fresh);
    // Reuses the memory of the old payload if it is large enough and still known; a command without a payload has none.
    char* room = nullptr;
    if (payload_size(stored) != 0 && size <= lane.room[place.position]) {
        switch (stored.opcode) {
            case Opcode::launch:
            case Opcode::cpu_kernel:
                room = static_cast<char*>(opaque_pointer(stored.launch.arguments()));
                break;
            case Opcode::copy:
                room = static_cast<char*>(opaque_pointer(stored.copy.source));
                break;
            default:
                break;
        }
    }
    if (size != 0 && !room) {
        room = own.get();
        lane.room[place.position] = static_cast<std::uint32_t>(size);
        keep(lane, place.position, std::move(own));
    }
    store_payload(fresh, room);
    stored = fresh;
}

}  // namespace canopy
