// SPDX-License-Identifier: Apache-2.0
// The launch family. Every function turns its arguments into one LaunchRequest (core/launch/launch.h).
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/launch_config.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/argument_block.h"
#include "core/launch/launch.h"
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

// A launch whose argument block is in host memory.
LaunchRequest host_launch(const void* arguments, std::size_t size, std::uint32_t blocks,
                          const Placeholder* placeholders, std::size_t count) {
    LaunchRequest request(arguments, size, blocks);
    request.work().placeholders = placeholders;
    request.work().placeholder_count = static_cast<std::uint16_t>(count);
    return request;
}

Status launch_device_arguments(aclrtFuncHandle function, std::uint32_t blocks, const void* arguments, std::size_t size,
                               const aclrtLaunchKernelCfg* config, aclrtStream stream) {
    CANOPY_TRY(check_launch(function, blocks, "funcHandle"));
    CANOPY_TRY(required(arguments, "argsData"));
    CANOPY_TRY(check_size(size));
    LaunchRequest request(nullptr, size, blocks);
    request.work().set_arguments_in_place(device_address(arguments));
    CANOPY_TRY(read_config(config, request.work()));
    Result<MemoryPlace> place = usable_place(device_address(arguments), size, "argsData");
    if (!place.ok()) return place.status();
    return with_function(function, stream, [&](LockedStream& locked, const Kernel& kernel, Handle) -> Status {
        const DeviceRecord* owner = place->record;
        if (!place->on_device() || (owner && owner != locked->record))
            return fail(code::param_invalid, "argsData {} must be memory of device {}, which runs the launch; it is {}",
                        as_address(arguments), locked->record->index,
                        owner ? fmt::format("memory of device {}", owner->index) : std::string("host memory"));
        return launch(locked, kernel, request);
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
    LaunchRequest request =
        host_launch(arguments, size, blocks, reinterpret_cast<const Placeholder*>(placeholders), count);
    CANOPY_TRY(read_config(config, request.work()));
    return launch_function(function, stream, request);
}

// One pointer per parameter; the kernel's metadata has the size of each.
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

// A checked launch with threads: its function, and the dimensions passed to the kernel.
struct SimtLaunch {
    Pin<Function> function;
    CanopyGrid grid;

    [[nodiscard]] std::size_t parameters_size() const { return function->info.arguments_size - sizeof(CanopyGrid); }
    [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(product(grid.grid)); }
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

// The dimensions are already in the argument block.
Status launch_simt(const SimtLaunch& launch, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                   LaunchRequest& request, std::size_t dynamic_size) {
    CANOPY_TRY(read_config(config, request.work()));
    if (dynamic_size != 0) CANOPY_TRY(set_dynamic_size(dynamic_size, request.work()));
    request.threads = true;
    return launch_function(opaque_of(launch.function->self), stream, request);
}

Status launch_simt_array(const SimtLaunch& launch, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                         void** arguments, std::size_t dynamic_size) {
    const KernelInfo& info = launch.function->info;
    ArgumentBlock block(info.arguments_size);
    CANOPY_TRY(gather_arguments(info, arguments, block.data()));
    std::memcpy(block.data() + launch.parameters_size(), &launch.grid, sizeof(launch.grid));
    LaunchRequest request(block.data(), info.arguments_size, launch.blocks());
    return launch_simt(launch, stream, config, request, dynamic_size);
}

// Inserts the dimensions between the parameters and the placeholder data, which moves up.
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
    LaunchRequest request = host_launch(block.data(), with_grid, launch.blocks(), moved.data(), moved.size());
    return launch_simt(launch, stream, config, request, dynamic_size);
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
        return with_function(
            funcHandle, stream, [&](LockedStream& locked, const Kernel& kernel, Handle function) -> Status {
                Arguments& arguments = **list;
                SpinGuard guard(arguments.lock);
                if (!arguments.finalised) [[unlikely]]
                    return fail(code::param_invalid,
                                "the argument list is not finalised: call aclrtKernelArgsFinalize first");
                if (arguments.function != function) [[unlikely]]
                    return fail(code::param_invalid, "the argument list was made for another function");
                LaunchRequest request = host_launch(arguments.block.data(), arguments.block.size(), numBlocks,
                                                    arguments.placeholders.data(), arguments.placeholders.size());
                CANOPY_TRY(read_config(cfg, request.work()));
                return launch(locked, kernel, request);
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
