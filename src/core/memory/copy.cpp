// SPDX-License-Identifier: Apache-2.0
#include "core/memory/copy.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

constexpr std::size_t snapshot_limit = 64 * 1024;  // bytes a stream keeps for a copy; larger copies are waited for
constexpr std::size_t batch_step = 64;             // commands submitted under one lock

struct Places {
    MemoryPlace destination, source;
};

Status check_peers(const Places& places) {
    const DeviceRecord* to = places.destination.on_device() ? places.destination.record : nullptr;
    const DeviceRecord* from = places.source.on_device() ? places.source.record : nullptr;
    if (!to || !from || to == from) return {};
    if (to->chip->series == "A3") return {};  // its devices can access each other from the start
    const auto reaches = [](const DeviceRecord& a, const DeviceRecord& b) {
        return (a.peers.load(std::memory_order_relaxed) >> b.index & 1) != 0;
    };
    if (reaches(*to, *from) || reaches(*from, *to)) return {};
    return fail(code::param_invalid,
                "dst is on device {} and src on device {}, which cannot access each other; call "
                "aclrtDeviceEnablePeerAccess first",
                to->index, from->index);
}

Result<Places> check_places(DeviceAddress destination, std::size_t to_size, DeviceAddress source,
                            std::size_t from_size) {
    Result<MemoryPlace> to = usable_place(destination, to_size, "dst");
    if (!to.ok()) return to.status();
    Result<MemoryPlace> from = usable_place(source, from_size, "src");
    if (!from.ok()) return from.status();
    Places places{*to, *from};
    CANOPY_TRY(check_peers(places));
    return places;
}

Result<Places> check_operation(const Copy& copy) {
    if (copy.count > copy.capacity)
        return fail(code::param_invalid, "count {} is larger than destMax {}", copy.count, copy.capacity);
    return check_places(copy.destination, copy.count, copy.source, copy.count);
}

// Bytes from the start of the first row to the end of the last; false if that exceeds the address space.
bool rows_extent(std::size_t pitch, std::size_t width, std::size_t height, std::size_t& extent) noexcept {
    return !__builtin_mul_overflow(pitch, height - 1, &extent) && !__builtin_add_overflow(extent, width, &extent);
}

Result<Places> check_operation(const RowCopy& copy) {
    std::size_t to = 0, from = 0;
    if (!rows_extent(copy.destination_pitch, copy.width, copy.height, to) ||
        !rows_extent(copy.source_pitch, copy.width, copy.height, from))
        return fail(code::param_invalid, "height {} with pitches {} and {} exceeds the address space", copy.height,
                    copy.destination_pitch, copy.source_pitch);
    return check_places(copy.destination, to, copy.source, from);
}

Result<MemoryPlace> check_operation(const Fill& fill_) {
    if (fill_.count > fill_.capacity / fill_.element)
        return fail(code::param_invalid, "{} elements of {} bytes are more than the {} bytes of the memory",
                    fill_.count, fill_.element, fill_.capacity);
    return usable_place(fill_.destination, fill_.count * fill_.element, "devPtr");
}

// What an operation of the calling thread uses, for a check of the host.
void tell_use(const Copy& copy) {
    const check::CommandUse uses[] = {
        {copy.destination.value(), copy.count, 1, 0, check::UseKind::write},
        {copy.source.value(), copy.count, 1, 0, check::UseKind::read},
    };
    HostCheck::present()->used_memory(uses);
}
void tell_use(const RowCopy& copy) {
    const check::CommandUse uses[] = {
        {copy.destination.value(), copy.width, copy.height, copy.destination_pitch, check::UseKind::write},
        {copy.source.value(), copy.width, copy.height, copy.source_pitch, check::UseKind::read},
    };
    HostCheck::present()->used_memory(uses);
}
void tell_use(const Fill& fill_) {
    const check::CommandUse use{fill_.destination.value(), fill_.count * fill_.element, 1, 0, check::UseKind::write};
    HostCheck::present()->used_memory(std::span(&use, 1));
}

// Waits for what can run. The operation is checked again, since its memory may be gone now. Checked devices always say
// that they have waited.
template <class Operation>
Status quiesce_before(Context& context, const Operation& operation) {
    if (!quiesce_context(context)) return {};
    CANOPY_TRY(check_operation(operation).status());
    if (HostCheck::present() != nullptr) [[unlikely]]
        tell_use(operation);
    return {};
}

Command command_of(const Copy& copy) {
    Command command(Opcode::copy);
    command.copy = {copy.destination, copy.source, copy.count, 1, copy.count, copy.count};
    return command;
}

// Submits the commands and waits for the last one. Other threads may submit work in between. Recorded commands are not
// waited for.
Status submit_and_wait(const void* handle, std::span<Command> commands) {
    Result<Pin<Stream>> stream = find_stream(handle, true);
    if (!stream.ok()) return stream.status();
    std::uint64_t last = 0;
    bool recorded = false;
    while (!commands.empty()) {
        const std::size_t step = std::min(commands.size(), batch_step);
        SpinGuard guard((*stream)->lock);
        if (!Runtime::instance().streams.alive((*stream)->self))
            return fail(code::invalid_handle, "stream was destroyed by another thread");
        CANOPY_TRY(check_blocking_copy(**stream));
        recorded = (*stream)->recorder != nullptr;
        Result<std::uint64_t> sequence = (*stream)->submit(commands.first(step));
        if (!sequence.ok()) return sequence.status();
        last = *sequence;
        commands = commands.subspan(step);
    }
    if (!recorded && !(*stream)->never_waits()) (*stream)->queue->wait(last, Deadline::never());
    return {};
}

Status submit_steps(const void* handle, std::span<Command> commands) {
    while (!commands.empty()) {
        const std::size_t step = std::min(commands.size(), batch_step);
        Result<LockedStream> stream = LockedStream::acquire(handle);
        if (!stream.ok()) return stream.status();
        CANOPY_TRY(stream->submit(commands.first(step)));
        commands = commands.subspan(step);
    }
    return {};
}

Status submit_copies(const void* stream, std::span<Command> commands, bool wait) {
    if (!wait) return submit_steps(stream, commands);
    if (HostCheck* const host = HostCheck::present()) [[unlikely]]
        host->waited_for_copy();
    return submit_and_wait(stream, commands);
}

// A graph keeps the bytes of a copy whatever their size.
bool is_recorded(const void* handle) {
    Result<Pin<Stream>> stream = find_stream(handle, true);
    if (!stream.ok()) return false;
    SpinGuard guard((*stream)->lock);
    return (*stream)->recorder != nullptr;
}

// The calling thread makes small copies itself.
Status copy_by(Device& device, const Copy& copy) {
    if (copy.count < Device::large_copy) return transfer(copy.destination, copy.source, copy.count);
    return device.copy({copy.destination, copy.source, copy.count, 1, copy.count, copy.count});
}

Status refuse_host_to_host() {
    return fail(code::not_supported, "a copy from host to host cannot run in a stream; use aclrtMemcpy");
}

}  // namespace

Status copy_now(const Copy& copy) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    if (Result<Places> places = check_operation(copy); !places.ok()) return places.status();
    if (copy.destination == copy.source) return {};
    CANOPY_TRY(check_unsafe(UnsafeCall::copy));
    CANOPY_TRY(quiesce_before(**context, copy));
    return copy_by(*(*context)->device, copy);
}

Status copy_now(const RowCopy& copy) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    if (Result<Places> places = check_operation(copy); !places.ok()) return places.status();
    CANOPY_TRY(check_unsafe(UnsafeCall::copy));
    CANOPY_TRY(quiesce_before(**context, copy));
    return (*context)->device->copy(
        {copy.destination, copy.source, copy.width, copy.height, copy.destination_pitch, copy.source_pitch});
}

Status copy_now(std::span<const Copy> copies) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    CANOPY_TRY(check_unsafe(UnsafeCall::copy));
    const bool waited = quiesce_context(**context);
    for (const Copy& copy : copies) {
        if (waited) {
            CANOPY_TRY(check_operation(copy).status());
            if (HostCheck::present() != nullptr) [[unlikely]]
                tell_use(copy);
        }
        CANOPY_TRY(copy_by(*(*context)->device, copy));
    }
    return {};
}

Status fill_now(const Fill& fill) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    if (Result<MemoryPlace> place = check_operation(fill); !place.ok()) return place.status();
    CANOPY_TRY(check_unsafe(UnsafeCall::copy));
    CANOPY_TRY(quiesce_before(**context, fill));
    if (fill.count * fill.element < Device::large_copy)
        return canopy::fill(fill.destination, fill.value, fill.element, fill.count);
    return (*context)->device->fill({fill.destination, fill.count, fill.value, fill.element});
}

Status copy_in_stream(const Copy& copy, CopyKind kind, const void* stream) {
    CANOPY_TRY(require_context());
    if (kind == CopyKind::host_to_host) return refuse_host_to_host();
    Result<Places> places = check_operation(copy);
    if (!places.ok()) return places.status();
    const bool to_device = places->destination.on_device(), from_device = places->source.on_device();
    if (!to_device && !from_device) return refuse_host_to_host();
    Command command = command_of(copy);
    bool wait = places->destination.pageable() || places->source.pageable();
    if (kind == CopyKind::host_to_buffer_to_device && !from_device) {
        command.snapshot = copy.count <= snapshot_limit || is_recorded(stream);
        wait = !command.snapshot;
    }
    return submit_copies(stream, std::span(&command, 1), wait);
}

Status copy_in_stream(const RowCopy& copy, const void* stream) {
    CANOPY_TRY(require_context());
    Result<Places> places = check_operation(copy);
    if (!places.ok()) return places.status();
    if (!places->destination.on_device() && !places->source.on_device()) return refuse_host_to_host();
    Command command(Opcode::copy);
    command.copy = {copy.destination, copy.source, copy.width, copy.height, copy.destination_pitch, copy.source_pitch};
    const bool wait = places->destination.pageable() || places->source.pageable();
    return submit_copies(stream, std::span(&command, 1), wait);
}

Status copy_in_stream(std::span<const Copy> copies, const void* stream) {
    std::vector<Command> commands;
    commands.reserve(copies.size());
    bool wait = false;
    for (const Copy& copy : copies) {
        wait = wait || classify(copy.destination).pageable() || classify(copy.source).pageable();
        commands.push_back(command_of(copy));
    }
    return submit_copies(stream, commands, wait);
}

Status fill_in_stream(const Fill& fill, const void* stream) {
    CANOPY_TRY(require_context());
    Result<MemoryPlace> place = check_operation(fill);
    if (!place.ok()) return place.status();
    Command command(Opcode::fill);
    const std::uint32_t value = fill.element == 1 ? fill.value & 0xFF : fill.value;
    command.fill = {fill.destination, fill.count, value, fill.element};
    return submit_copies(stream, std::span(&command, 1), place->pageable());
}

Status check_batch_copy(const Copy& copy, BatchDirection direction, std::uint32_t device) {
    if (!copy.destination) return fail_null("dsts[i]");
    if (!copy.source) return fail_null("srcs[i]");
    Result<Places> places = check_operation(copy);
    if (!places.ok()) return places.status();
    const bool to_device = direction == BatchDirection::host_to_device;
    const MemoryPlace& far = to_device ? places->destination : places->source;
    const MemoryPlace& near = to_device ? places->source : places->destination;
    const char* const far_name = to_device ? "dst" : "src";
    if (!far.on_device()) return fail(code::param_invalid, "{} is not device memory, but attrs says so", far_name);
    if (far.record && far.record->index != device)
        return fail(code::param_invalid, "{} is on device {}, but attrs says device {}", far_name, far.record->index,
                    device);
    if (near.kind == MemoryKind::device || near.kind == MemoryKind::mapped)
        return fail(code::param_invalid, "{} is device memory, but attrs says host", to_device ? "src" : "dst");
    return {};
}

Status submit_to(const void* handle, Command& command) {
    Result<LockedStream> stream = LockedStream::acquire(handle);
    if (!stream.ok()) return stream.status();
    return stream->submit(command);
}

Status submit_nothing(const void* stream) {
    Command command(Opcode::inline_call);
    command.call = {[](void*) {}, nullptr, nullptr, nullptr};
    return submit_to(stream, command);
}

void fail_stream(Handle handle, int with_code, const char* what) noexcept {
    const Pin<Stream> stream = Runtime::instance().streams.pin(handle);
    if (!stream) return;
    try {
        std::string text(what);
        SpinGuard guard(stream->error_lock);
        if (stream->error.load(std::memory_order_relaxed) == 0) stream->error_text.swap(text);
    } catch (...) {  // no memory for the message: report the code alone
    }
    int none = 0;
    stream->error.compare_exchange_strong(none, with_code, std::memory_order_acq_rel);
}

}  // namespace canopy
