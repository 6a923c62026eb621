// SPDX-License-Identifier: Apache-2.0
// Shared by every entry point: a scope that converts a Status to the interface's code, records the thread's last error,
// and catches all exceptions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>

#include "base/error_text.h"
#include "base/kernel_thread.h"
#include "base/result.h"
#include "core/base/error_codes.h"
#include "core/base/gate.h"
#include "core/base/thread_state.h"
#include "foundation/clock.h"
#include "record/recorder.h"

namespace canopy {

// Around a call while somebody records: the outermost call of a thread becomes a record (recorded_call.cpp). Called by
// the entry point itself: the return address of its frame is in the program.
void begin_recorded_call() noexcept;
[[nodiscard]] int end_recorded_call(int code) noexcept;

// Runtime and device codes become the thread's last error; argument check codes do not.
inline int finish_call(int code) noexcept {
    const int family = code / 1000;
    if (family == 107 || family == 207 || family == 507) thread_state.last_error = code;
    return code;
}

// Writes a line into the process's log (log.cpp).
void log_failed_call(const char* function, int code) noexcept;

// The same for a call that has failed.
inline int finish_failed_call(int code, const char* function) noexcept {
    log_failed_call(function, code);
    return finish_call(code);
}

// The body of an entry point: `return api([&]() -> Status { ... });` A wrapper takes `function` as its last argument in
// the same way and passes it on.
template <class Body>
[[gnu::always_inline]] inline int api(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    thread_state.function = function;
    if (record::wants(record::noted_calls)) [[unlikely]]
        begin_recorded_call();
    int code = 0;
    try {
        const Status status = body();
        if (!status.ok()) [[unlikely]]
            code = finish_failed_call(status.code(), function);
    } catch (const std::bad_alloc&) {
        code = finish_failed_call(fail(canopy::code::bad_alloc, "out of host memory").code(), function);
    } catch (...) {
        code =
            finish_failed_call(fail(canopy::code::internal, "unexpected failure inside the runtime").code(), function);
    }
    if (thread_state.call_began != 0) [[unlikely]]
        return end_recorded_call(code);
    return code;
}

// The same for calls that change devices in other ways than by submitting to a stream: they wait while a snapshot has
// locked the process.
template <class Body>
[[gnu::always_inline]] inline int changing_api(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    const GatePass pass;
    return api(body, function);
}

// Memory of the caller that a call reads or writes.
struct CallersMemory {
    const void* address;
    std::size_t size;
    bool written;
};
inline CallersMemory read_from(const void* address, std::size_t size) { return {address, size, false}; }
template <class T>
inline CallersMemory written_to(T* address) {
    return {address, sizeof(T), true};
}
inline CallersMemory written_to(void* address, std::size_t size) { return {address, size, true}; }

// The body of an entry point that CPU kernels call, too: a kernel is not ended in it. `memory`: what the call uses of
// its caller's memory. The thread may be one of the host that runs the kernel, so its last error stays as it is.
template <class Body>
[[gnu::always_inline]] inline int api_for_kernels(std::initializer_list<CallersMemory> memory, Body&& body,
                                                  const char* function = __builtin_FUNCTION()) noexcept {
    KernelThread* const kernel = KernelThread::current();
    const int last_error = thread_state.last_error;
    if (kernel != nullptr) [[unlikely]] {
        for (const CallersMemory& each : memory) touch_memory_of_kernel(each.address, each.size, each.written);
        kernel->enter_runtime();
    }
    const int code = api(body, function);  // the only call, so that it is inlined
    if (kernel != nullptr) [[unlikely]] {
        thread_state.last_error = last_error;
        kernel->leave_runtime();
    }
    return code;
}

template <class T>
inline Status required(T* pointer, const char* name) {
    if (pointer == nullptr) [[unlikely]]
        return fail_null(name);
    return {};
}

// A timeout: -1 means for ever, a positive number is in milliseconds.
inline Result<Deadline> deadline_of(std::int32_t timeout) {
    if (timeout == -1) return Deadline::never();
    if (timeout > 0) return Deadline::after(timeout * millisecond);
    return fail(code::param_invalid, "timeout {} is neither -1 nor a positive number of milliseconds", timeout);
}

}  // namespace canopy
