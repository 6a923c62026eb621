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
    const void* source = nullptr;
    void* destination = nullptr;
    std::uint64_t count = 0;
    std::uint64_t reserved[4] = {};
};
static_assert(sizeof(CopyDescriptor) == copy_descriptor_size);

Copy resolve(const IndirectCopy& copy) {
    return {static_cast<std::byte*>(*copy.destination_slot) + copy.destination_offset, copy.capacity,
            static_cast<const std::byte*>(*copy.source_slot) + copy.source_offset, copy.count};
}

}  // namespace

Status copy_in_stream(const IndirectCopy& copy, CopyKind kind, const void* stream) {
    CANOPY_TRY(require_context());
    if (copy.count > copy.capacity)
        return fail(code::param_invalid, "count {} is larger than destMax {}", copy.count, copy.capacity);
    Result<MemoryPlace> to = usable_place(copy.destination_slot, sizeof(void*), "dst");
    if (!to.ok()) return to.status();
    Result<MemoryPlace> from = usable_place(copy.source_slot, sizeof(void*), "src");
    if (!from.ok()) return from.status();
    if (!to->on_device() && !from->on_device()) {
        if (!*copy.destination_slot) return fail_null("*dst");
        if (!*copy.source_slot) return fail_null("*src");
        return copy_in_stream(resolve(copy), kind, stream);
    }
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    const SlotCopy work{copy.destination_slot, copy.destination_offset, copy.source_slot, copy.source_offset,
                        copy.count};
    Result<Command> command =
        builtin_command(Builtin::copy_behind_slots, **record, work, copy.count / bytes_of_a_block);
    if (!command.ok()) return command.status();
    return submit_to(stream, *command);
}

Status write_copy_descriptor(void* descriptor, const void* source, void* destination, std::size_t count) {
    CANOPY_TRY(require_context());
    Result<MemoryPlace> place = usable_place(descriptor, sizeof(CopyDescriptor), "desc");
    if (!place.ok()) return place.status();
    Result<MemoryPlace> from = usable_place(source, count, "srcAddr");
    if (!from.ok()) return from.status();
    Result<MemoryPlace> to = usable_place(destination, count, "dstAddr");
    if (!to.ok()) return to.status();
    if (!from->on_device()) return fail(code::param_invalid, "srcAddr {} is not device memory", as_address(source));
    if (!to->on_device()) return fail(code::param_invalid, "dstAddr {} is not device memory", as_address(destination));
    CopyDescriptor content;
    content.mark = CopyDescriptor::written;
    content.source = source;
    content.destination = destination;
    content.count = count;
    return transfer(descriptor, &content, sizeof(content));
}

Status copy_by_descriptor(const void* descriptor, const void* stream) {
    CANOPY_TRY(require_context());
    Result<MemoryPlace> place = usable_place(descriptor, sizeof(CopyDescriptor), "desc");
    if (!place.ok()) return place.status();
    CopyDescriptor content;
    CANOPY_TRY(transfer(&content, descriptor, sizeof(content)));
    if (content.mark != CopyDescriptor::written)
        return fail(code::param_invalid, "desc {} was not written by aclrtSetMemcpyDesc", as_address(descriptor));
    const Copy copy{content.destination, content.count, content.source, content.count};
    return copy_in_stream(copy, CopyKind::inside_device, stream);
}

}  // namespace canopy
