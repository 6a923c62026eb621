// SPDX-License-Identifier: Apache-2.0
#include "core/memory/random_numbers.h"

#include <algorithm>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/process/builtin_kernels.h"
#include "core/process/context.h"

namespace canopy {
namespace {

constexpr std::size_t counter_size = 16;
constexpr std::uint64_t numbers_of_a_block = 16384;  // one core makes about 100 a microsecond

Status check_parameter(const RandomParameter& parameter, std::size_t smallest, std::size_t largest, const char* name) {
    if (parameter.size < smallest || parameter.size > largest)
        return fail(code::param_invalid, "{}.size {} is not between {} and {}", name, parameter.size, smallest,
                    largest);
    if (!parameter.in_memory) return {};
    return usable_place(DeviceAddress(parameter.value_or_address), parameter.size, name).status();
}

// Bytes from an address to the end of its allocation; for memory that the runtime does not know, as many as can be.
std::uint64_t bytes_at(DeviceAddress address, const MemoryPlace& place) noexcept {
    return place.range.size == 0 ? UINT64_MAX : place.range.bytes_from(address);
}

std::uint64_t wanted_blocks(const RandomTask& task) noexcept {
    if (task.function == RandomFunction::truncated_normal) return 1;
    if (!task.count.in_memory) return task.count.value_or_address / numbers_of_a_block;
    if (task.capacity == UINT64_MAX) return 1;
    const bool bits = task.function == RandomFunction::dropout_mask;
    return (bits ? task.capacity * 8 : task.capacity / size_of(task.type)) / numbers_of_a_block;
}

}  // namespace

Result<Command> random_command(RandomTask& task, DeviceRecord& record) {
    const std::size_t element = size_of(task.type), widest = is_float(task.type) ? sizeof(double) : element;
    CANOPY_TRY(check_parameter(task.first, element, widest, "paramInfo"));
    if (task.function != RandomFunction::dropout_mask)
        CANOPY_TRY(check_parameter(task.second, element, widest, "paramInfo"));
    CANOPY_TRY(check_parameter(task.seed, 1, sizeof(std::uint64_t), "randomSeed"));
    CANOPY_TRY(check_parameter(task.count, 1, sizeof(std::uint64_t), "randomNum"));
    CANOPY_TRY(usable_place(DeviceAddress(task.counter), counter_size, "randomCounterAddr").status());
    const std::uint64_t known = result_size(task, task.count.in_memory ? 1 : task.count.value_or_address);
    const DeviceAddress result(task.result);
    Result<MemoryPlace> place = usable_place(result, known, "randomResultAddr");
    if (!place.ok()) return place.status();
    task.capacity = std::max(known, bytes_at(result, *place));
    return builtin_command(Builtin::random, record, task, wanted_blocks(task));
}

Status submit_random(RandomTask task, const void* stream) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    Result<Command> command = random_command(task, **record);
    if (!command.ok()) return command.status();
    return submit_to(stream, *command);
}

}  // namespace canopy
