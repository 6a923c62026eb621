// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launch.h"

#include <cstring>

#include "base/mapping.h"
#include "core/fusion/fusion.h"
#include "core/launch/argument_block.h"

namespace canopy {
namespace {

// Generated launchers lay out parameters like a C structure: each at the next multiple of its own alignment, at least
// 4. Such a block is shorter than ours if small parameters follow one another. Copies it into `block` in the kernel's
// layout; false if the size does not match.
bool spread_structure(const KernelInfo& info, const LaunchWork& work, char* block) {
    if (work.arguments_in_place() || work.placeholder_count != 0 || info.core == CoreType::cpu) return false;
    std::size_t at = 0;
    for (const ParameterInfo& parameter : info.parameters) {
        const std::size_t natural = parameter.size % 8 == 0 ? 8 : 4;
        at = round_up(at, parameter.alignment > 8 ? parameter.alignment : natural);
        if (at + parameter.size > work.arguments_size) return false;
        std::memcpy(block + parameter.offset, static_cast<const char*>(work.host_arguments()) + at, parameter.size);
        at += parameter.size;
    }
    return work.arguments_size <= round_up(at, 8);
}

}  // namespace

Status complete_unusual(Command& command, DeviceRecord& record) {
    const Chip& chip = *record.chip;
    if (command.launch.dynamic_size > chip.unified_buffer)
        return fail(code::param_invalid, "{} bytes of dynamic memory; a core of {} has {}", command.launch.dynamic_size,
                    chip.name, chip.unified_buffer);
    if (!command.launch.kernel->info->list) return {};
    return choose_fused(command.launch, record);
}

// The argument block is shorter than the kernel's.
Status launch_short(LockedStream& stream, LaunchRequest& request) {
    LaunchWork& work = request.work();
    const Kernel& kernel = *work.kernel;
    const KernelInfo& info = *kernel.info;
    if (request.compiled)
        return fail(code::param_invalid, "the program passes {} bytes to kernel {}, which takes {}: compile it anew",
                    work.arguments_size, info.name, info.arguments_size);
    ArgumentBlock block(info.arguments_size);
    if (!spread_structure(info, work, block.data()))
        return fail(code::param_invalid, "argsSize {} is less than the {} bytes of kernel {}'s parameters",
                    work.arguments_size, info.arguments_size, info.name);
    work.set_arguments(block.data());
    work.arguments_size = info.arguments_size;
    CANOPY_TRY(complete(request.command, kernel, *stream->record));
    return stream.submit(request.command);
}

Result<Handle> function_handle(const void* opaque) {
    Result<Pin<Function>> function = find_function(opaque);
    if (!function.ok()) return function.status();
    return (*function)->self;
}

Status load_function(Handle handle, DeviceRecord& record) {
    Result<Pin<Function>> function = find_function(opaque_of(handle));
    if (!function.ok()) return function.status();
    return kernel_for(**function, record).status();
}

}  // namespace canopy
