// SPDX-License-Identifier: Apache-2.0
#include "core/stream/notify.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/context.h"
#include "core/stream/shared_notify.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

HandleTable<Notify>& table(NotifyKind kind) {
    Runtime& runtime = Runtime::instance();
    return kind == NotifyKind::binary ? runtime.notifies : runtime.counting_notifies;
}

// A handle for the fence, which it owns from now on; `record` has counted it.
Result<Handle> open_slot(NotifyKind kind, DeviceRecord& record, Fence* fence,
                         const std::shared_ptr<SharedNotify>& shared) {
    const Handle handle = table(kind).open([&](Notify& notify, Handle self) {
        notify.self = self;
        notify.record = &record;
        notify.fence = fence;
        if (shared) notify.shared.store(shared->keep(), std::memory_order_release);
    });
    if (handle != 0) return handle;
    fence->release();
    record.notifies.fetch_sub(1, std::memory_order_acq_rel);
    return fail(code::no_notify, "too many notifies are alive");
}

}  // namespace

void Notify::recycle() noexcept {
    if (SharedNotify* old = shared.exchange(nullptr, std::memory_order_acq_rel)) old->drop();
    if (fence) fence->release();
    fence = nullptr;
    if (record) record->notifies.fetch_sub(1, std::memory_order_acq_rel);
    record = nullptr;
    self = 0;
}

Result<Handle> create_notify(NotifyKind kind) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    DeviceRecord& record = *(*context)->record;
    const auto give_back = [&] { record.notifies.fetch_sub(1, std::memory_order_acq_rel); };
    if (record.notifies.fetch_add(1, std::memory_order_acq_rel) >= record.chip->max_notifies) {
        give_back();
        return fail(code::no_notify, "device {} already has {} notifies, the maximum of {}", record.index,
                    record.chip->max_notifies, record.chip->name);
    }
    Result<Fence*> fence = (*context)->device->create_fence();
    if (!fence.ok()) {
        give_back();
        return fence.status();
    }
    return open_slot(kind, record, *fence, nullptr);
}

Result<Handle> open_notify(const std::shared_ptr<SharedNotify>& shared, Fence* fence) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) {
        fence->release();
        return record.status();
    }
    (*record)->notifies.fetch_add(1, std::memory_order_acq_rel);  // the limit is that of its creator
    return open_slot(NotifyKind::binary, **record, fence, shared);
}

Result<Pin<Notify>> find_notify(NotifyKind kind, const void* opaque) {
    Pin<Notify> notify = table(kind).pin(handle_of(opaque));
    if (!notify)
        return fail(code::invalid_handle,
                    "notify {} is not a live notify: never created, destroyed, or another kind "
                    "of handle",
                    as_address(opaque));
    return notify;
}

Status destroy_notify(NotifyKind kind, const void* opaque) {
    if (const Pin<Notify> notify = table(kind).pin(handle_of(opaque)))
        if (SharedNotify* shared = notify->shared.load(std::memory_order_acquire)) shared->end();
    if (!table(kind).close(handle_of(opaque)))
        return fail(code::invalid_handle, "notify {} is not a live notify", as_address(opaque));
    return {};
}

void reset_notify(Notify& notify) noexcept {
    notify.fence->signal(SignalMode::set, 0);
    if (SharedNotify* shared = notify.shared.load(std::memory_order_acquire)) shared->reset();
}

std::uint32_t notify_number(const Notify& notify) noexcept {
    const SharedNotify* shared = notify.shared.load(std::memory_order_acquire);
    return shared ? shared->number() : slot_of(notify.self);
}

Status signal_notify(Notify& notify, const void* opaque, SignalMode mode, std::uint64_t value) {
    if (SharedNotify* shared = notify.shared.load(std::memory_order_acquire)) [[unlikely]]
        return shared->record(opaque);
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    Command command(Opcode::signal);
    command.signal = {notify.fence, value, mode};
    return stream->submit(command);
}

Status wait_for_notify(Notify& notify, const void* opaque, WaitMode mode, std::uint64_t value, bool clear,
                       Nanoseconds timeout) {
    if (SharedNotify* shared = notify.shared.load(std::memory_order_acquire)) [[unlikely]]
        return shared->wait(opaque, timeout);
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    Command command(Opcode::wait);
    command.wait = {notify.fence, value, static_cast<std::uint64_t>(timeout), mode, clear};
    return stream->submit(command);
}

}  // namespace canopy
