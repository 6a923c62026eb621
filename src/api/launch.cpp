// SPDX-License-Identifier: Apache-2.0
// The launch family. Every function comes down to one LaunchWork on one locked stream.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/launch_checks.h"
#include "api/launch_config.h"
#include "base/mapping.h"
#include "core/fusion/fusion.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

constexpr std::size_t max_arguments = 1 << 20;

Status check_launch(const void* function, std::uint32_t blocks, const char* name) {
    CANOPY_TRY(required(function, name));
    return check_blocks(blocks);
}

Status check_size(std::size_t size) {
    if (size == 0) [[unlikely]]
        return fail(code::invalid_parameter, "argsSize must not be 0");
    if (size > max_arguments) [[unlikely]]
        return fail(code::param_invalid, "argsSize {} is more than {}", size, max_arguments);
    return {};
}

Status set_dynamic_size(std::size_t size, LaunchWork& work) {
    if (size > UINT32_MAX) return fail(code::param_invalid, "dynUbufSize {} is more than any core has", size);
    work.dynamic_size = static_cast<std::uint32_t>(size);
    return {};
}

// The handle behind what a program passes for "this function": a handle, or a kernel's host function.
Result<Handle> function_handle(const void* opaque) {
    if (kind_of(handle_of(opaque)) == HandleKind::function) [[likely]]
        return handle_of(opaque);
    Result<Pin<Function>> function = find_function(opaque);
    if (!function.ok()) return function.status();
    return (*function)->self;
}

Status load_function(Handle handle, DeviceRecord& record) {
    Result<Pin<Function>> function = find_function(opaque_of(handle));
    if (!function.ok()) return function.status();
    return kernel_for(**function, record).status();
}

// Locks the stream, finds the kernel and calls body(LockedStream&, const Kernel&, Handle of the function). The first
// launch of a function on a device loads its binary there, with the stream unlocked.
template <class Body>
Status with_kernel(const void* function, const void* stream, Body&& body) {
    Result<Handle> handle = function_handle(function);
    if (!handle.ok()) [[unlikely]]
        return handle.status();
    for (;;) {
        DeviceRecord* record = nullptr;
        {
            Result<LockedStream> locked = LockedStream::acquire(stream);
            if (!locked.ok()) [[unlikely]]
                return locked.status();
            record = (*locked)->record;
            if (const Kernel* kernel = loaded_kernel(*handle, *record)) [[likely]]
                return body(*locked, *kernel, *handle);
        }
        CANOPY_TRY(load_function(*handle, *record));
    }
}

// An argument block on the stack, or on the heap when it is large.
class ArgumentBlock {
public:
    explicit ArgumentBlock(std::size_t size) {
        if (size > sizeof(small_)) large_.resize(size);
    }
    [[nodiscard]] char* data() noexcept { return large_.empty() ? small_ : large_.data(); }

private:
    alignas(16) char small_[512];
    std::vector<char> large_;
};

// Generated launchers lay parameters out as a C structure: each at the next multiple of its own alignment, at least 4.
// Such a block is shorter than ours when small parameters follow one another. Copies it into `block` as the kernel
// reads it; false when the block has another size.
bool spread_structure(const KernelInfo& info, const LaunchWork& work, char* block) {
    if (work.arguments_in_place || work.placeholder_count != 0 || info.core == CoreType::cpu) return false;
    std::size_t at = 0;
    for (const ParameterInfo& parameter : info.parameters) {
        const std::size_t natural = parameter.size % 8 == 0 ? 8 : 4;
        at = round_up(at, parameter.alignment > 8 ? parameter.alignment : natural);
        if (at + parameter.size > work.arguments_size) return false;
        std::memcpy(block + parameter.offset, static_cast<const char*>(work.arguments) + at, parameter.size);
        at += parameter.size;
    }
    return work.arguments_size <= round_up(at, 8);
}

// The last step of a launch: the command holds all that the kernel needs.
Status submit_checked(LockedStream& stream, Command& command) {
    if (command.launch.kernel->info->list) [[unlikely]]
        CANOPY_TRY(choose_fused(command.launch, *stream->record));
    return stream.submit(command);
}

// The same for a block that is shorter than the kernel's.
Status submit_structure(LockedStream& stream, Command& command) {
    LaunchWork& work = command.launch;
    const KernelInfo& info = *work.kernel->info;
    ArgumentBlock block(info.arguments_size);
    if (!spread_structure(info, work, block.data()))
        return fail(code::param_invalid, "argsSize {} is less than the {} bytes of kernel {}'s parameters",
                    work.arguments_size, info.arguments_size, info.name);
    work.arguments = block.data();
    work.arguments_size = info.arguments_size;
    return submit_checked(stream, command);
}

// Checks what only the kernel knows, and submits. `threads`: the dimensions are in the argument block.
Status submit_launch(LockedStream& stream, const Kernel& kernel, std::uint32_t blocks, Command& command,
                     bool threads = false) {
    LaunchWork& work = command.launch;
    work.kernel = &kernel;
    work.blocks = blocks;
    if (kernel.info->core == CoreType::cpu) command.opcode = Opcode::cpu_kernel;
    CANOPY_TRY(check_form(*kernel.info, threads));
    if (work.arguments_size < kernel.info->arguments_size) [[unlikely]]
        return submit_structure(stream, command);
    return submit_checked(stream, command);
}

Status submit_launch(const void* stream, const void* function, std::uint32_t blocks, Command& command) {
    return with_kernel(function, stream, [&](LockedStream& locked, const Kernel& kernel, Handle) {
        return submit_launch(locked, kernel, blocks, command);
    });
}

// A command whose argument block lies on the host.
Command host_launch(const void* arguments, std::size_t size, const Placeholder* placeholders, std::size_t count) {
    Command command(Opcode::launch);
    command.launch = {};
    command.launch.arguments = arguments;
    command.launch.arguments_size = static_cast<std::uint32_t>(size);
    command.launch.placeholders = placeholders;
    command.launch.placeholder_count = static_cast<std::uint16_t>(count);
    return command;
}

Status launch_device_arguments(aclrtFuncHandle function, std::uint32_t blocks, const void* arguments, std::size_t size,
                               const aclrtLaunchKernelCfg* config, aclrtStream stream) {
    CANOPY_TRY(check_launch(function, blocks, "funcHandle"));
    CANOPY_TRY(required(arguments, "argsData"));
    CANOPY_TRY(check_size(size));
    Command command = host_launch(arguments, size, nullptr, 0);
    command.launch.arguments_in_place = true;
    CANOPY_TRY(read_config(config, command.launch));
    Result<MemoryPlace> place = usable_place(arguments, size, "argsData");
    if (!place.ok()) return place.status();
    return with_kernel(function, stream, [&](LockedStream& locked, const Kernel& kernel, Handle) -> Status {
        const DeviceRecord* owner = place->record;
        if (!place->on_device() || (owner && owner != locked->record))
            return fail(code::param_invalid, "argsData {} must be memory of device {}, which runs the launch; it is {}",
                        as_address(arguments), locked->record->index,
                        owner ? fmt::format("memory of device {}", owner->index) : std::string("host memory"));
        return submit_launch(locked, kernel, blocks, command);
    });
}

static_assert(sizeof(aclrtPlaceHolderInfo) == sizeof(Placeholder));

Status check_placeholders(const aclrtPlaceHolderInfo* placeholders, std::size_t count, std::size_t size) {
    if (count == 0) return {};
    CANOPY_TRY(required(placeholders, "placeHolderArray"));
    if (count > max_parameters)
        return fail(code::param_invalid, "placeHolderNum {} is more than {}", count, max_parameters);
    for (std::size_t i = 0; i < count; ++i) {
        if (placeholders[i].addrOffset + sizeof(void*) > size || placeholders[i].dataOffset > size)
            return fail(code::param_invalid, "placeholder {} ({}, {}) is outside the {} argument bytes", i,
                        placeholders[i].addrOffset, placeholders[i].dataOffset, size);
    }
    return {};
}

Status launch_host_arguments(void* function, std::uint32_t blocks, aclrtStream stream,
                             const aclrtLaunchKernelCfg* config, const void* arguments, std::size_t size,
                             const aclrtPlaceHolderInfo* placeholders, std::size_t count) {
    CANOPY_TRY(check_launch(function, blocks, "funcHandle"));
    CANOPY_TRY(required(arguments, "hostArgs"));
    CANOPY_TRY(check_size(size));
    CANOPY_TRY(check_placeholders(placeholders, count, size));
    Command command = host_launch(arguments, size, reinterpret_cast<const Placeholder*>(placeholders), count);
    CANOPY_TRY(read_config(config, command.launch));
    return submit_launch(stream, function, blocks, command);
}

// One pointer per parameter; the kernel's metadata says how much each points at.
Status gather_arguments(const KernelInfo& info, void** arguments, char* block) {
    if (!info.parameters.empty()) CANOPY_TRY(required(arguments, "args"));
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        if (!arguments[i]) return fail(code::invalid_parameter, "args[{}] must not be null", i);
        std::memcpy(block + info.parameters[i].offset, arguments[i], info.parameters[i].size);
    }
    return {};
}

Status launch_array(void* function, std::uint32_t blocks, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                    void** arguments) {
    CANOPY_TRY(check_launch(function, blocks, "func"));
    Result<Pin<Function>> pinned = find_function(function);
    if (!pinned.ok()) return pinned.status();
    const KernelInfo& info = (*pinned)->info;
    if ((*pinned)->cpu)
        return fail(code::param_invalid, "{} is a CPU kernel: its arguments are one block, not an array of pointers",
                    info.name);
    const std::size_t size = std::max<std::size_t>(info.arguments_size, sizeof(void*));
    ArgumentBlock block(size);
    CANOPY_TRY(gather_arguments(info, arguments, block.data()));
    return launch_host_arguments(function, blocks, stream, config, block.data(), size, nullptr, 0);
}

// ---- SIMT ----------------------------------------------------------------------------------------------------------

// A launch with threads, checked: its function, and its dimensions as the kernel gets them.
struct SimtLaunch {
    Pin<Function> function;
    CanopyGrid grid;

    [[nodiscard]] std::size_t parameters_size() const { return function->info.arguments_size - sizeof(CanopyGrid); }
};

Result<SimtLaunch> check_simt(const void* function, dim3 grid, dim3 block) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    CANOPY_TRY(check_simt_chip(*(*context)->record->chip));
    const CanopyGrid dimensions{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
    CANOPY_TRY(check_grid(dimensions));
    Result<Pin<Function>> pinned = find_function(function);
    if (!pinned.ok()) return pinned.status();
    const KernelInfo& info = (*pinned)->info;
    CANOPY_TRY(check_form(info, true));
    if (info.arguments_size < sizeof(CanopyGrid))
        return fail(code::param_invalid, "kernel {} is damaged: its arguments are too small for dimensions", info.name);
    return SimtLaunch{std::move(*pinned), dimensions};
}

// `block` has the dimensions in it.
Status submit_simt(const SimtLaunch& launch, aclrtStream stream, const aclrtLaunchKernelCfg* config, Command& command,
                   std::size_t dynamic_size) {
    CANOPY_TRY(read_config(config, command.launch));
    if (dynamic_size != 0) CANOPY_TRY(set_dynamic_size(dynamic_size, command.launch));
    const auto blocks = static_cast<std::uint32_t>(product(launch.grid.grid));
    return with_kernel(opaque_of(launch.function->self), stream,
                       [&](LockedStream& locked, const Kernel& kernel, Handle) {
                           return submit_launch(locked, kernel, blocks, command, true);
                       });
}

Status launch_simt_array(const SimtLaunch& launch, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                         void** arguments, std::size_t dynamic_size) {
    const KernelInfo& info = launch.function->info;
    ArgumentBlock block(info.arguments_size);
    CANOPY_TRY(gather_arguments(info, arguments, block.data()));
    std::memcpy(block.data() + launch.parameters_size(), &launch.grid, sizeof(launch.grid));
    Command command = host_launch(block.data(), info.arguments_size, nullptr, 0);
    return submit_simt(launch, stream, config, command, dynamic_size);
}

// The dimensions go between the parameters and the data of placeholders, which moves up.
Status launch_simt_host(const SimtLaunch& launch, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                        const char* arguments, std::size_t size, std::span<const aclrtPlaceHolderInfo> placeholders,
                        std::size_t dynamic_size) {
    const std::size_t parameters = launch.parameters_size();
    if (size < parameters)
        return fail(code::param_invalid, "argsSize {} is less than the {} bytes of kernel {}'s parameters", size,
                    parameters, launch.function->info.name);
    const std::size_t with_grid = size + sizeof(CanopyGrid);
    ArgumentBlock block(with_grid);
    std::memcpy(block.data(), arguments, parameters);
    std::memcpy(block.data() + parameters, &launch.grid, sizeof(launch.grid));
    std::memcpy(block.data() + parameters + sizeof(launch.grid), arguments + parameters, size - parameters);
    std::vector<Placeholder> moved;
    for (const aclrtPlaceHolderInfo& each : placeholders) {
        const std::uint32_t shift = each.dataOffset >= parameters ? sizeof(CanopyGrid) : 0;
        moved.push_back({each.addrOffset, each.dataOffset + shift});
    }
    Command command = host_launch(block.data(), with_grid, moved.data(), moved.size());
    return submit_simt(launch, stream, config, command, dynamic_size);
}

}  // namespace

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                           aclrtStream stream) {
    return api([&] { return launch_device_arguments(funcHandle, numBlocks, argsData, argsSize, nullptr, stream); });
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                             aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
    return api([&] { return launch_device_arguments(funcHandle, numBlocks, argsData, argsSize, cfg, stream); });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* cfg, aclrtArgsHandle argsHandle, void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(check_launch(funcHandle, numBlocks, "funcHandle"));
        CANOPY_TRY(required(argsHandle, "argsHandle"));
        if (reserve) [[unlikely]]
            return fail(code::invalid_parameter, "reserve must be null");
        Result<Pin<Arguments>> list = find_arguments(argsHandle);
        if (!list.ok()) [[unlikely]]
            return list.status();
        return with_kernel(
            funcHandle, stream, [&](LockedStream& locked, const Kernel& kernel, Handle function) -> Status {
                Arguments& arguments = **list;
                SpinGuard guard(arguments.lock);
                if (!arguments.finalised) [[unlikely]]
                    return fail(code::param_invalid,
                                "the argument list is not finalised: call aclrtKernelArgsFinalize first");
                if (arguments.function != function) [[unlikely]]
                    return fail(code::param_invalid, "the argument list was made for another function");
                Command command = host_launch(arguments.block.data(), arguments.block.size(),
                                              arguments.placeholders.data(), arguments.placeholders.size());
                CANOPY_TRY(read_config(cfg, command.launch));
                return submit_launch(locked, kernel, numBlocks, command);
            });
    });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg* cfg, void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum) {
    return api([&] {
        return launch_host_arguments(funcHandle, numBlocks, stream, cfg, hostArgs, argsSize, placeHolderArray,
                                     placeHolderNum);
    });
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                        void** args) {
    return api([&] { return launch_array(func, numBlocks, stream, cfg, args); });
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                            aclrtStream stream, aclrtLaunchKernelCfg* cfg, void** args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(func, "func"));
        Result<SimtLaunch> launch = check_simt(func, gridDim, blockDim);
        if (!launch.ok()) return launch.status();
        return launch_simt_array(*launch, stream, cfg, args, dynUbufSize);
    });
}

aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                           aclrtStream stream, aclrtLaunchKernelCfg* cfg, void* hostArgs,
                                           size_t argsSize, aclrtPlaceHolderInfo* placeHolderArray,
                                           size_t placeHolderNum) {
    return api([&]() -> Status {
        CANOPY_TRY(required(func, "func"));
        CANOPY_TRY(required(hostArgs, "hostArgs"));
        CANOPY_TRY(check_size(argsSize));
        CANOPY_TRY(check_placeholders(placeHolderArray, placeHolderNum, argsSize));
        Result<SimtLaunch> launch = check_simt(func, gridDim, blockDim);
        if (!launch.ok()) return launch.status();
        return launch_simt_host(*launch, stream, cfg, static_cast<const char*>(hostArgs), argsSize,
                                {placeHolderArray, placeHolderNum}, dynUbufSize);
    });
}
