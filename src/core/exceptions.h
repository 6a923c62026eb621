// SPDX-License-Identifier: Apache-2.0
// Exception callbacks: who hears about a failed task, and what they are shown. They run on the thread that ran the
// task, before any synchronisation reports the failure.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/handles.h"
#include "device/backend.h"

// What programs get to see through the getters of the interface; valid during the callback only.
struct rtExceptionInfo {
    std::uint32_t task;
    std::uint32_t stream;
    std::uint32_t thread;
    std::uint32_t device;
    std::uint32_t code;
    const void* arguments;
    std::uint32_t arguments_size;
    void* function;  // its handle
};

namespace canopy {

class Stream;

using ExceptionFunction = void (*)(rtExceptionInfo* info);
using BinaryExceptionFunction = void (*)(rtExceptionInfo* info, void* argument);

void set_exception_callback(ExceptionFunction function) noexcept;  // null clears it
Status add_exception_callback(ExceptionFunction function);
void remove_exception_callback(ExceptionFunction function) noexcept;

void fire_exception(Stream& stream, const TaskFailure& failure, int code) noexcept;

}  // namespace canopy
