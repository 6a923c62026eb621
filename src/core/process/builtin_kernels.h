// SPDX-License-Identifier: Apache-2.0
// Kernels of the runtime itself: work of streams on device memory, which the host may not be able to touch. Their image
// is part of the library (src/builtin); a device loads it on first use and keeps it. They are launched like kernels of
// programs, so order, capture, replay, faults and aborts are those of kernels; programs do not see that they are any.
//
// Any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "core/process/runtime.h"
#include "device/device.h"

namespace canopy {

enum class Builtin : std::uint8_t { none, reduce, random, copy_behind_slots };

// A launch of the kernel on the device of `record`; the device loads the image now if it has not yet. No lock of a
// stream may be held then. As many blocks as `wanted`, but no more than can be resident at once.
Result<Command> builtin_command(Builtin kernel, DeviceRecord& record, const void* arguments, std::uint32_t size,
                                std::uint64_t wanted);

template <class Arguments>
Result<Command> builtin_command(Builtin kernel, DeviceRecord& record, const Arguments& arguments,
                                std::uint64_t wanted) {
    static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) % 8 == 0);
    return builtin_command(kernel, record, &arguments, sizeof(Arguments), wanted);
}

// none: a kernel of a program, or no launch.
inline Builtin builtin_of(const Command& command) noexcept {
    return command.opcode == Opcode::launch ? static_cast<Builtin>(command.launch.kernel->built_in) : Builtin::none;
}
inline Builtin builtin_of(const TaskFailure& failure) noexcept {
    return failure.kernel ? static_cast<Builtin>(failure.kernel->built_in) : Builtin::none;
}

// What it does, for messages.
std::string_view purpose_of(Builtin kernel) noexcept;
// The code of a launch that failed because of the addresses it found or was given.
int fault_code_of(Builtin kernel) noexcept;

}  // namespace canopy
