// SPDX-License-Identifier: Apache-2.0
#include "core/memory/reduce.h"

#include "core/memory/copy.h"
#include "core/process/builtin_kernels.h"
#include "core/process/context.h"

namespace canopy {
namespace {

constexpr std::uint64_t reduced_bytes_of_a_block = 256 * 1024;

// Different ranges that overlap give the result of one loop from the front: blocks cannot share the work.
bool shifted(const Reduction& work, std::uint64_t bytes) noexcept {
    const std::uint64_t to = work.destination, from = work.source;
    return to != from && to < from + bytes && from < to + bytes;
}

}  // namespace

std::size_t size_of(ElementType type) noexcept {
    switch (type) {
        case ElementType::int8:
            return 1;
        case ElementType::int32:
        case ElementType::float32:
            return 4;
        default:
            return 2;
    }
}

Status reduce_in_stream(const Reduction& work, const void* stream) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    const std::uint64_t bytes = work.count * size_of(work.type);
    const std::uint64_t blocks = shifted(work, bytes) ? 1 : bytes / reduced_bytes_of_a_block;
    Result<Command> command = builtin_command(Builtin::reduce, **record, work, blocks);
    if (!command.ok()) return command.status();
    return submit_to(stream, *command);
}

}  // namespace canopy
