// SPDX-License-Identifier: Apache-2.0
// Copies whose addresses are in memory: behind pointer slots, or in a descriptor.
#include <cstring>

#include "base/error_text.h"
#include "builtin/arguments.h"
#include "core/base/error_codes.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/process/builtin_kernels.h"
#include "core/process/context.h"

namespace canopy {
namespace {

constexpr std::size_t bytes_of_a_block = 512 * 1024;

// Written by aclrtSetMemcpyDesc; `mark` tells whether a descriptor has been written.
struct CopyDescriptor {
    static constexpr std::uint64_t written = 0x43616e6f70794344;
    std::uint64_t mark = 0;
    DeviceAddress source{};
    DeviceAddress destination{};
    std::uint64_t count = 0;
    std::uint64_t reserved[4] = {};
};
static_assert(sizeof(CopyDescriptor) == copy_descriptor_size);

Result<DeviceAddress> read_slot(DeviceAddress slot, const char* what) {
    DeviceAddress address{};
    CANOPY_TRY(read_device(&address, slot, sizeof(address)));
    if (!address) return fail_null(what);
    return address;
}

}  // namespace

Status copy_in_stream(const IndirectCopy& copy, CopyKind kind, const void* stream) {
    CANOPY_TRY(require_context());
    if (copy.count > copy.capacity)
        return fail(code::param_invalid, "count {} is larger than destMax {}", copy.count, copy.capacity);
    Result<MemoryPlace> to = usable_place(copy.destination_slot, sizeof(DeviceAddress), "dst");
    if (!to.ok()) return to.status();
    Result<MemoryPlace> from = usable_place(copy.source_slot, sizeof(DeviceAddress), "src");
    if (!from.ok()) return from.status();
    if (!to->on_device() && !from->on_device()) {
        Result<DeviceAddress> destination = read_slot(copy.destination_slot, "*dst");
        if (!destination.ok()) return destination.status();
        Result<DeviceAddress> source = read_slot(copy.source_slot, "*src");
        if (!source.ok()) return source.status();
        const Copy resolved{*destination + copy.destination_offset, copy.capacity, *source + copy.source_offset,
                            copy.count};
        return copy_in_stream(resolved, kind, stream);
    }
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    const SlotCopy work{copy.destination_slot.value(), copy.destination_offset, copy.source_slot.value(),
                        copy.source_offset, copy.count};
    Result<Command> command =
        builtin_command(Builtin::copy_behind_slots, **record, work, copy.count / bytes_of_a_block);
    if (!command.ok()) return command.status();
    return submit_to(stream, *command);
}

Status write_copy_descriptor(DeviceAddress descriptor, DeviceAddress source, DeviceAddress destination,
                             std::size_t count) {
    CANOPY_TRY(require_context());
    Result<MemoryPlace> place = usable_place(descriptor, sizeof(CopyDescriptor), "desc");
    if (!place.ok()) return place.status();
    Result<MemoryPlace> from = usable_place(source, count, "srcAddr");
    if (!from.ok()) return from.status();
    Result<MemoryPlace> to = usable_place(destination, count, "dstAddr");
    if (!to.ok()) return to.status();
    if (!from->on_device()) return fail(code::param_invalid, "srcAddr {} is not device memory", source);
    if (!to->on_device()) return fail(code::param_invalid, "dstAddr {} is not device memory", destination);
    CopyDescriptor content;
    content.mark = CopyDescriptor::written;
    content.source = source;
    content.destination = destination;
    content.count = count;
    return write_device(descriptor, &content, sizeof(content));
}

Status copy_by_descriptor(DeviceAddress descriptor, const void* stream) {
    CANOPY_TRY(require_context());
    Result<MemoryPlace> place = usable_place(descriptor, sizeof(CopyDescriptor), "desc");
    if (!place.ok()) return place.status();
    CopyDescriptor content;
    CANOPY_TRY(read_device(&content, descriptor, sizeof(content)));
    if (content.mark != CopyDescriptor::written)
        return fail(code::param_invalid, "desc {} was not written by aclrtSetMemcpyDesc", descriptor);
    const Copy copy{content.destination, content.count, content.source, content.count};
    return copy_in_stream(copy, CopyKind::inside_device, stream);
}

}  // namespace canopy
