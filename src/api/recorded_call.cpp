// SPDX-License-Identifier: Apache-2.0
// Records of calls of the interface. A call inside another one of the same thread, as from a callback, is part of that
// one.
#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "api/api.h"
#include "base/thread_object.h"
#include "base/ticks.h"
#include "core/check/calling.h"
#include "core/kernel/program/registered_images.h"
#include "core/process/runtime.h"
#include "core/stream/stream.h"

// The first and the last byte of this library's code.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, etext;

namespace canopy {
namespace {

// What the thread had done when its call began.
struct CallBegin {
    const char* function = "";
    std::uint32_t depth = 0;
    std::uint32_t last_task = 0;
    Handle last_stream = 0;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit CallBegin at_begin;

bool in_library(std::uintptr_t address) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
    return address - begin < reinterpret_cast<std::uintptr_t>(&etext) - begin;
}

// ---- where calls come from -----------------------------------------------------------------------------------------

// How to find the launch that a call of canopyLaunch belongs to. It is called by the host function of the kernel, which
// the compiler may have put into its caller.
struct LaunchCaller {
    std::uintptr_t call = 0;    // its return address
    bool inlined = false;       // the program's own function calls
    std::ptrdiff_t offset = 0;  // of the return address of the host function, from the frame of canopyLaunch; 0: not
                                // known
};
// Not thread-local: what is makes the library too large to be loaded by running programs, like Python.
struct LaunchCallers {
    std::array<LaunchCaller, 64> callers;
};

struct CallerWalk {
    std::uintptr_t call;
    bool reached = false, inlined = false;
    std::uintptr_t caller = 0, slot = 0;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* given) {
    auto& walk = *static_cast<CallerWalk*>(given);
    const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
    if (walk.reached) {
        walk.caller = address;
        walk.slot = static_cast<std::uintptr_t>(_Unwind_GetCFA(frame)) - sizeof(void*);
        return _URC_END_OF_STACK;
    }
    if (address != walk.call) return _URC_NO_REASON;
    walk.reached = true;
    walk.inlined = !is_registered_function(reinterpret_cast<const void*>(_Unwind_GetRegionStart(frame)));
    return walk.inlined ? _URC_END_OF_STACK : _URC_NO_REASON;
}

std::uintptr_t launch_address(std::uintptr_t call, std::uintptr_t frame) noexcept {
    LaunchCallers* const own = ThreadObject<LaunchCallers>::get();
    if (!own) return call;
    LaunchCaller& known = own->callers[call / 4 % own->callers.size()];
    if (known.call == call) {
        if (known.inlined) return call;
        if (known.offset != 0) return *reinterpret_cast<const std::uintptr_t*>(frame + known.offset);
    }
    CallerWalk walk{call};
    _Unwind_Backtrace(&look_at_frame, &walk);
    if (!walk.reached) return call;
    known = {call, walk.inlined, 0};
    if (walk.inlined || walk.caller == 0) return call;
#if defined(__x86_64__)
    if (*reinterpret_cast<const std::uintptr_t*>(walk.slot) == walk.caller)
        known.offset = static_cast<std::ptrdiff_t>(walk.slot - frame);
#endif
    return walk.caller;
}

_Unwind_Reason_Code leave_library(_Unwind_Context* frame, void* found) {
    const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
    if (in_library(address)) return _URC_NO_REASON;
    *static_cast<std::uintptr_t*>(found) = address;
    return _URC_END_OF_STACK;
}

// The address in the program to which the call returns.
std::uintptr_t program_address(const void* frame) noexcept {
    auto address = static_cast<const std::uintptr_t*>(frame)[1];
    if (in_library(address)) {  // one function of the interface is made of another
        _Unwind_Backtrace(&leave_library, &address);
        return address;
    }
    if (thread_state.function[0] != '<') return address;  // not "<<<>>>"
    return launch_address(address, reinterpret_cast<std::uintptr_t>(frame));
}

}  // namespace

[[gnu::noinline]] void begin_recorded_call() noexcept {
    if (record::wants(record::call_sites)) {
        // The library is compiled with frame pointers, so this function's frame begins with the caller's.
        calling = {thread_state.function, program_address(*static_cast<void**>(__builtin_frame_address(0)))};
        if (!record::wants(record::calls)) return;
    }
    if (thread_state.call_began != 0) {
        ++at_begin.depth;
        return;
    }
    at_begin = {thread_state.function, 0, thread_state.last_task, thread_state.last_stream};
    thread_state.call_began = ticks();
}

int end_recorded_call(int code) noexcept {
    if (at_begin.depth != 0) {
        --at_begin.depth;
        return code;
    }
    const Ticks end = ticks();
    record::Record record{};
    record.begin = std::exchange(thread_state.call_began, 0);
    record.duration = record::duration_between(record.begin, end);
    record.kind = static_cast<std::uint64_t>(profile::Kind::call);
    record.name = record::name_number_of_literal(at_begin.function);
    record.object = static_cast<std::uint32_t>(code);
    const bool same_stream = thread_state.last_stream == at_begin.last_stream;
    if (!same_stream || thread_state.last_task != at_begin.last_task) {
        if (const Pin<Stream> stream = Runtime::instance().streams.pin(thread_state.last_stream)) {
            record.link = profile::link_of(static_cast<std::uint32_t>(stream->id), thread_state.last_task);
            record.argument = same_stream ? thread_state.last_task - at_begin.last_task : 1;
        }
    }
    record::write(record);
    return code;
}

}  // namespace canopy
