// SPDX-License-Identifier: Apache-2.0
#include "core/process/context.h"

#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/gate.h"
#include "core/base/thread_state.h"
#include "core/process/process_hooks.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

Status no_context() {
    return fail(code::context_null,
                "this thread has no current context: call aclrtSetDevice or aclrtCreateContext in it first");
}

}  // namespace

void Context::recycle() noexcept {
    self = default_stream = 0;
    record = nullptr;
    device = nullptr;
    primary = false;
    failure.store(0, std::memory_order_relaxed);
    MutexLock guard(mutex);
    streams.clear();
    options.clear();
}

Status require_context() {
    Runtime& runtime = Runtime::instance();
    if (runtime.contexts.alive(thread_state.context)) [[likely]]
        return {};
    // Another thread reset the device and set it again: all its threads share the new primary context.
    if (thread_state.context != 0 && thread_state.context_is_primary) {
        Result<DeviceRecord*> record = runtime.device(thread_state.device);
        const Handle primary = record.ok() ? (*record)->primary_hint.load(std::memory_order_acquire) : 0;
        if (Pin<Context> context = runtime.contexts.pin(primary)) {
            make_current(*context);
            return {};
        }
    }
    const std::int32_t device = runtime.default_device.load(std::memory_order_acquire);
    if (device >= 0) {
        const GatePass pass;
        return process_hooks.set_device(device);
    }
    return no_context();
}

Result<Pin<Context>> current_context() {
    CANOPY_TRY(require_context());
    Pin<Context> context = Runtime::instance().contexts.pin(thread_state.context);
    if (!context) return no_context();
    return context;
}

void make_current(Context& context) noexcept {
    thread_state.context = context.self;
    thread_state.context_is_primary = context.primary;
    thread_state.default_stream = context.default_stream;
    thread_state.device = static_cast<std::int32_t>(context.record->index);
}

void forget_current(Handle context) noexcept {
    if (thread_state.context != context) return;
    thread_state.context = thread_state.default_stream = 0;
    thread_state.device = -1;
}

Result<DeviceRecord*> current_device() {
    CANOPY_TRY(require_context());
    return Runtime::instance().device(thread_state.device);
}

Result<DeviceAddress> context_memory(Context& context, ContextMemory which) {
    constexpr std::size_t overflow_bytes = 64, synchronisation_bytes = 16 * 1024;
    const bool overflow = which == ContextMemory::overflow;
    MutexLock guard(context.mutex);
    DeviceAddress& memory = overflow ? context.overflow_words : context.sync_words;
    if (memory) return memory;
    const std::size_t size = overflow ? overflow_bytes : synchronisation_bytes;
    Result<DeviceAddress> fresh = context.device->allocate(size, memory_default);
    if (!fresh.ok()) return fresh.status();
    CANOPY_TRY(fill(*fresh, 0, 1, size));
    memory = *fresh;
    return memory;
}

bool quiesce_context(Context& context) noexcept { return context.device->quiesce(); }

void quiesce_devices() noexcept {
    Runtime& runtime = Runtime::instance();
    for (std::uint32_t id = 0; id < runtime.device_count(); ++id) {
        Result<DeviceRecord*> record = runtime.device(id);
        if (!record.ok()) continue;
        if (Device* device = (*record)->opened()) device->quiesce();
    }
}

}  // namespace canopy
