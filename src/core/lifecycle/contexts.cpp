// SPDX-License-Identifier: Apache-2.0
#include "core/lifecycle/contexts.h"

#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/fusion/fusion_work.h"
#include "core/graph/graph_end.h"
#include "core/kernel/kernel.h"
#include "core/process/context.h"
#include "core/process/device_callbacks.h"
#include "core/process/process_log.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// A context with its default stream on an opened device.
Result<Handle> make_context(DeviceRecord& record, Device& device, bool primary) {
    Runtime& runtime = Runtime::instance();
    const Handle handle = runtime.contexts.open([&](Context& context, Handle self) {
        context.self = self;
        context.record = &record;
        context.device = &device;
        context.primary = primary;
    });
    if (handle == 0) return fail(code::resource_alloc, "too many contexts are alive");
    Pin<Context> context = runtime.contexts.pin(handle);
    Result<Handle> stream = create_stream(*context, {}, true);
    if (!stream.ok()) {
        runtime.contexts.close(handle);
        return stream.status();
    }
    context->default_stream = *stream;
    return handle;
}

// Closes the handle, waits for runnable work, then destroys the context's streams and graphs and frees its memory.
Status end_context(Handle handle) {
    Runtime& runtime = Runtime::instance();
    Pin<Context> context = runtime.contexts.pin(handle);
    if (!context || !runtime.contexts.close(handle)) return fail(code::context_null, "the context is not alive");
    log_line(LogModule::runtime, LogLevel::information, "context", "device {}: {} context ends", context->record->index,
             context->primary ? "its primary" : "a");
    context->device->quiesce();
    std::vector<Handle> streams;
    {
        MutexLock guard(context->mutex);
        streams.swap(context->streams);
    }
    for (Handle stream : streams) destroy_stream(stream, DestroyMode::quiesced).ignore();
    end_graphs(handle);
    MutexLock guard(context->mutex);
    for (DeviceAddress* memory : {&context->overflow_words, &context->sync_words})
        if (const DeviceAddress address = std::exchange(*memory, DeviceAddress{}))
            context->device->release(address).ignore();
    return {};
}

// Creates the device's primary context if it has none.
Result<Handle> primary_context(DeviceRecord& record) CANOPY_REQUIRES(record.mutex) {
    if (record.primary != 0) return record.primary;
    Result<Device*> device = record.open();
    if (!device.ok()) return device.status();
    CANOPY_TRY((*device)->revive());
    Result<Handle> context = make_context(record, **device, true);
    if (!context.ok()) return context.status();
    log_line(LogModule::runtime, LogLevel::information, "context", "device {}: its primary context is created",
             record.index);
    record.primary = *context;
    record.primary_hint.store(*context, std::memory_order_release);
    return context;
}

}  // namespace

Result<Handle> create_context(std::int64_t device_id) {
    Runtime& runtime = Runtime::instance();
    Result<DeviceRecord*> found = runtime.device(device_id);
    if (!found.ok()) return found.status();
    DeviceRecord& record = **found;
    {
        MutexLock guard(record.mutex);
        Result<Handle> primary = primary_context(record);
        if (!primary.ok()) return primary.status();
    }
    Result<Handle> handle = make_context(record, *record.opened(), false);
    if (!handle.ok()) return handle.status();
    log_line(LogModule::runtime, LogLevel::information, "context", "device {}: a context is created", record.index);
    if (Pin<Context> context = runtime.contexts.pin(*handle)) make_current(*context);
    return handle;
}

Status destroy_context(Handle handle) {
    Pin<Context> context = Runtime::instance().contexts.pin(handle);
    if (!context) return fail(code::context_null, "the context is not alive");
    if (context->primary)
        return fail(code::context_null, "the default context of a device is destroyed by aclrtResetDevice only");
    CANOPY_TRY(end_context(handle));
    forget_current(handle);
    return {};
}

Status set_current_context(Handle handle) {
    Pin<Context> context = Runtime::instance().contexts.pin(handle);
    if (!context) return fail(code::param_invalid, "the context is not alive");
    make_current(*context);
    return {};
}

Status set_device(std::int64_t device_id) {
    Runtime& runtime = Runtime::instance();
    Result<DeviceRecord*> found = runtime.device(device_id);
    if (!found.ok()) return found.status();
    DeviceRecord& record = **found;
    const auto id = static_cast<std::int32_t>(record.index);
    notify_device_state(id, DeviceStage::set_pre);
    Handle primary = 0;
    {
        MutexLock guard(record.mutex);
        Result<Handle> context = primary_context(record);
        if (!context.ok()) return context.status();
        primary = *context;
        ++record.references;
    }
    if (Pin<Context> context = runtime.contexts.pin(primary)) make_current(*context);
    notify_device_state(id, DeviceStage::set_post);
    return {};
}

Status reset_device(std::int64_t device_id, ResetMode mode) {
    Result<DeviceRecord*> found = Runtime::instance().device(device_id);
    if (!found.ok()) return found.status();
    DeviceRecord& record = **found;
    const auto id = static_cast<std::int32_t>(record.index);
    Handle ending = 0;
    {
        MutexLock guard(record.mutex);
        if (record.references == 0) return fail(code::context_release, "device {} is not set: nothing to reset", id);
        record.references = mode == ResetMode::forced ? 0 : record.references - 1;
        if (record.references == 0) {
            ending = std::exchange(record.primary, 0);
            record.primary_hint.store(0, std::memory_order_release);
        }
    }
    notify_device_state(id, DeviceStage::reset_pre);
    if (ending != 0) {
        CANOPY_TRY(end_context(ending));
        forget_current(ending);
    }
    notify_device_state(id, DeviceStage::reset_post);
    return {};
}

Status synchronise_context(Context& context, Deadline deadline) {
    CANOPY_TRY(check_synchronise());
    std::vector<Handle> streams;
    {
        MutexLock guard(context.mutex);
        streams = context.streams;
    }
    Status first;
    for (Handle handle : streams) {
        Pin<Stream> stream = Runtime::instance().streams.pin(handle);
        if (!stream) continue;
        const Status status = synchronise_stream(*stream, deadline);
        if (!status.ok() && first.ok()) first = status;
        if (status.code() == code::stream_sync_timeout) break;
    }
    return first;
}

void release_all_devices() noexcept {
    Runtime& runtime = Runtime::instance();
    std::vector<Handle> contexts;
    for (std::uint32_t index = 0; index < runtime.device_count(); ++index) {
        Result<DeviceRecord*> record = runtime.device(index);
        if (!record.ok()) continue;
        MutexLock guard((*record)->mutex);
        (*record)->references = 0;
        (*record)->primary = 0;
        (*record)->primary_hint.store(0, std::memory_order_release);
    }
    runtime.contexts.for_each([&](Pin<Context> context) { contexts.push_back(context->self); });
    for (Handle context : contexts) {
        end_context(context).ignore();
        forget_current(context);
    }
    stop_improvements();
    end_all_graphs();
    unload_all_binaries();
    quiesce_devices();  // returns memory freed under running work to its heap
}

}  // namespace canopy
