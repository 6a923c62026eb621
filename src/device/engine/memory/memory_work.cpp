// SPDX-License-Identifier: Apache-2.0
#include "device/engine/memory/memory_work.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error_text.h"
#include "device/device.h"
#include "device/opaque_pointer.h"

namespace canopy {
namespace {

bool holds(std::uint64_t word, const ValueWork& wait) noexcept {
    switch (wait.condition) {
        case ValueCondition::at_least:
            return static_cast<std::int64_t>(word - wait.value) >= 0;
        case ValueCondition::equal:
            return word == wait.value;
        case ValueCondition::bits_and:
            return (word & wait.value) != 0;
        case ValueCondition::bits_nor:
            return ~(word | wait.value) != 0;
    }
    return true;
}

struct Look {
    const std::uint64_t* address;
    std::uint64_t word;
};

}  // namespace

void run_copy(void* data) {
    const CopyWork& work = static_cast<const Command*>(data)->copy;
    if (work.height <= 1 || (work.destination_pitch == work.width && work.source_pitch == work.width)) {
        std::memmove(opaque_pointer(work.destination), opaque_pointer(work.source),
                     work.width * std::max<std::uint64_t>(work.height, 1));
        return;
    }
    auto* destination = static_cast<char*>(opaque_pointer(work.destination));
    const auto* source = static_cast<const char*>(opaque_pointer(work.source));
    for (std::uint64_t row = 0; row < work.height; ++row)
        std::memmove(destination + row * work.destination_pitch, source + row * work.source_pitch, work.width);
}

void run_fill(void* data) {
    const FillWork& work = static_cast<const Command*>(data)->fill;
    if (work.element_size == 1) {
        std::memset(opaque_pointer(work.destination), static_cast<int>(work.value), work.count);
        return;
    }
    // Whole words through memcpy: the address need not be aligned.
    auto* destination = static_cast<char*>(opaque_pointer(work.destination));
    for (std::uint64_t i = 0; i < work.count; ++i) std::memcpy(destination + i * 4, &work.value, 4);
}

void run_write_value(void* data) {
    const ValueWork& work = static_cast<const Command*>(data)->value;
    std::atomic_ref(*static_cast<std::uint64_t*>(opaque_pointer(work.address)))
        .store(work.value, std::memory_order_release);
}

bool touches_remote(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::copy:
            return remote_owner(command.copy.destination) || remote_owner(command.copy.source);
        case Opcode::fill:
            return remote_owner(command.fill.destination);
        case Opcode::write_value:
            return remote_owner(command.value.address);
        default:
            return false;
    }
}

Status run_by_transfer(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::copy: {
            const CopyWork& work = command.copy;
            if (work.height <= 1 || (work.destination_pitch == work.width && work.source_pitch == work.width))
                return transfer(work.destination, work.source, work.width * std::max<std::uint64_t>(work.height, 1));
            for (std::uint64_t row = 0; row < work.height; ++row)
                CANOPY_TRY(transfer(work.destination + row * work.destination_pitch,
                                    work.source + row * work.source_pitch, work.width));
            return {};
        }
        case Opcode::fill:
            return fill(command.fill.destination, command.fill.value, command.fill.element_size, command.fill.count);
        case Opcode::write_value:
            return write_device(command.value.address, &command.value.value, sizeof command.value.value);
        default:
            return fail(207000, "the task is not possible in the memory of this device");
    }
}

ValueCheck check_value(Executor& executor, const TaskOwner* owner, const ValueWork& wait) noexcept {
    if (any_remote() && remote_owner(wait.address)) {
        std::uint64_t word = 0;
        if (!read_device(&word, wait.address, sizeof word).ok()) return ValueCheck::unreadable;
        return holds(word, wait) ? ValueCheck::satisfied : ValueCheck::not_yet;
    }
    Look look = {static_cast<const std::uint64_t*>(opaque_pointer(wait.address)), 0};
    Fault fault;
    executor.begin_task(owner, 0, 0);
    const Fiber::Exit how = executor.run(
        nullptr,
        [](void* data) {
            auto* target = static_cast<Look*>(data);
            target->word = __atomic_load_n(target->address, __ATOMIC_ACQUIRE);
        },
        &look, nullptr, fault);
    executor.end_task();
    if (how != Fiber::Exit::finished) return ValueCheck::unreadable;
    return holds(look.word, wait) ? ValueCheck::satisfied : ValueCheck::not_yet;
}

}  // namespace canopy
