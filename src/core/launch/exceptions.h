// SPDX-License-Identifier: Apache-2.0
// Failed tasks: their description, and the exception callbacks, which run on the thread that ran the task before any
// synchronisation reports the failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/device.h"
#include "runtime/runtime/base.h"

namespace canopy {

class Stream;

using ExceptionFunction = void (*)(rtExceptionInfo* info);

void set_exception_callback(ExceptionFunction function) noexcept;  // null clears it
Status add_exception_callback(ExceptionFunction function);
void remove_exception_callback(ExceptionFunction function) noexcept;

// Describes what failed, and how.
std::string describe_failure(const TaskFailure& failure);

void fire_exception(Stream& stream, const TaskFailure& failure, int code) noexcept;

// Details of a failed task that are not in its info.
struct ExceptionDetails {
    void* function = nullptr;                      // the function's handle
    rtExceptionErrRegInfo_t* registers = nullptr;  // of the core it failed on; null if that was not an AI core
};
// Available from any thread while callbacks are running for that info.
std::optional<ExceptionDetails> exception_details(const rtExceptionInfo* info) noexcept;

// The argument block of the failed task.
struct ExceptionArguments {
    DeviceAddress address{};
    std::uint32_t size = 0;
};
ExceptionArguments exception_arguments(const rtExceptionInfo& info) noexcept;

}  // namespace canopy
