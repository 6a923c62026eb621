// SPDX-License-Identifier: Apache-2.0
// The launch family. Every function comes down to one LaunchWork on one locked stream.
#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "core/stream.h"

using namespace canopy;

namespace {

constexpr std::uint32_t max_blocks = 65535;
constexpr std::size_t max_arguments = 1 << 20;

Status check_launch(const void* function, std::uint32_t blocks, const char* name) {
    CANOPY_TRY(required(function, name));
    if (blocks == 0 || blocks > max_blocks) [[unlikely]]
        return fail(code::param_invalid, "numBlocks {} is not 1 to {}", blocks, max_blocks);
    return {};
}

Status check_size(std::size_t size) {
    if (size == 0) [[unlikely]]
        return fail(code::invalid_parameter, "argsSize must not be 0");
    if (size > max_arguments) [[unlikely]]
        return fail(code::param_invalid, "argsSize {} is more than {}", size, max_arguments);
    return {};
}

Status read_attribute(const aclrtLaunchKernelAttr& attribute, LaunchWork& work, bool& seconds, bool& microseconds) {
    const aclrtLaunchKernelAttrValue& value = attribute.value;
    switch (attribute.id) {
        case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
            if (value.schemMode > 1)
                return fail(code::param_invalid, "schemMode {} is neither 0 nor 1", value.schemMode);
            work.batch = value.schemMode == 1;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
            work.dynamic_size = value.dynUBufSize;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
            if (value.engineType != ACL_RT_ENGINE_TYPE_AIC && value.engineType != ACL_RT_ENGINE_TYPE_AIV)
                return fail(code::param_invalid, "engineType {} is neither 0 nor 1",
                            static_cast<int>(value.engineType));
            return {};  // a hint: the kernel's own kind decides
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
            work.block_offset = value.blockDimOffset;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
            seconds = true;
            work.timeout = value.timeout == 0 ? UINT64_MAX : value.timeout * static_cast<std::uint64_t>(second);
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US: {
            microseconds = true;
            const std::uint64_t time =
                static_cast<std::uint64_t>(value.timeoutUs.timeoutHigh) << 32 | value.timeoutUs.timeoutLow;
            work.timeout = time == 0 || time > INT64_MAX / microsecond ? UINT64_MAX : time * microsecond;
            return {};
        }
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
        case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
            return {};
        default:
            break;
    }
    return fail(code::param_invalid, "launch attribute {} is not known", static_cast<int>(attribute.id));
}

Status read_config(const aclrtLaunchKernelCfg* config, LaunchWork& work) {
    if (!config) [[likely]]
        return {};
    if (config->numAttrs != 0 && !config->attrs) return fail_null("cfg->attrs");
    bool seconds = false, microseconds = false;
    for (std::size_t i = 0; i < config->numAttrs; ++i)
        CANOPY_TRY(read_attribute(config->attrs[i], work, seconds, microseconds));
    if (seconds && microseconds)
        return fail(code::param_invalid, "a launch has one timeout: in seconds or in microseconds, not both");
    return {};
}

// The first launch of a function on a device loads its binary there.
Result<const Kernel*> load_kernel(const void* function, Stream& stream) {
    Result<Pin<Function>> pinned = find_function(function);
    if (!pinned.ok()) return pinned.status();
    Result<Kernel*> loaded = kernel_for(**pinned, *stream.record);
    if (!loaded.ok()) return loaded.status();
    return static_cast<const Kernel*>(*loaded);
}

// The kernel behind a function on the stream's device. The stream is locked: a function found alive stays loaded until
// the command is submitted.
Result<const Kernel*> kernel_on(const void* opaque, Stream& stream) {
    HandleTable<Function>& functions = Runtime::instance().functions;
    const Handle handle = handle_of(opaque);
    const Function* function = functions.peek(handle);
    // Read before the handle is checked: the slot may be given to another function at any time.
    const Kernel* kernel = function ? function->kernels[stream.record->index].load(std::memory_order_acquire) : nullptr;
    if (!functions.alive(handle)) [[unlikely]]
        return fail(code::invalid_handle, "funcHandle {} is not a function of a loaded binary", fmt::ptr(opaque));
    if (!kernel) [[unlikely]]
        return load_kernel(opaque, stream);
    return kernel;
}

// Fills in the kernel, checks what only it knows, and submits.
Status submit_launch(LockedStream& stream, const void* function, std::uint32_t blocks, Command& command) {
    Result<const Kernel*> kernel = kernel_on(function, *stream);
    if (!kernel.ok()) [[unlikely]]
        return kernel.status();
    LaunchWork& work = command.launch;
    work.kernel = *kernel;
    work.blocks = blocks;
    if (work.arguments_size < (*kernel)->info->arguments_size) [[unlikely]]
        return fail(code::param_invalid, "argsSize {} is less than the {} bytes of kernel {}'s parameters",
                    work.arguments_size, (*kernel)->info->arguments_size, (*kernel)->info->name);
    return stream.submit(command);
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
    Result<LockedStream> locked = LockedStream::acquire(stream);
    if (!locked.ok()) return locked.status();
    const DeviceRecord* owner = place->record;
    if (!place->on_device() || (owner && owner != (*locked)->record))
        return fail(code::param_invalid, "argsData {} must be memory of device {}, which runs the launch; it is {}",
                    fmt::ptr(arguments), (*locked)->record->index,
                    owner ? fmt::format("memory of device {}", owner->index) : std::string("host memory"));
    return submit_launch(*locked, function, blocks, command);
}

static_assert(sizeof(aclrtPlaceHolderInfo) == sizeof(Placeholder));

Status check_placeholders(const aclrtPlaceHolderInfo* placeholders, std::size_t count, std::size_t size) {
    if (count == 0) return {};
    CANOPY_TRY(required(placeholders, "placeHolderArray"));
    if (count > max_parameters)
        return fail(code::param_invalid, "placeHolderNum {} is more than {}", count, max_parameters);
    for (std::size_t i = 0; i < count; ++i) {
        if (placeholders[i].addrOffset + sizeof(void*) > size || placeholders[i].dataOffset > size)
            return fail(code::param_invalid, "placeholder {} ({}, {}) lies outside the {} argument bytes", i,
                        placeholders[i].addrOffset, placeholders[i].dataOffset, size);
    }
    return {};
}

Status launch_host_arguments(void* function, std::uint32_t blocks, aclrtStream stream,
                             const aclrtLaunchKernelCfg* config, const void* arguments, std::size_t size,
                             const aclrtPlaceHolderInfo* placeholders, std::size_t count, std::size_t dynamic_size) {
    CANOPY_TRY(check_launch(function, blocks, "funcHandle"));
    CANOPY_TRY(required(arguments, "hostArgs"));
    CANOPY_TRY(check_size(size));
    CANOPY_TRY(check_placeholders(placeholders, count, size));
    Command command = host_launch(arguments, size, reinterpret_cast<const Placeholder*>(placeholders), count);
    CANOPY_TRY(read_config(config, command.launch));
    if (dynamic_size != 0) command.launch.dynamic_size = static_cast<std::uint32_t>(dynamic_size);
    Result<LockedStream> locked = LockedStream::acquire(stream);
    if (!locked.ok()) [[unlikely]]
        return locked.status();
    return submit_launch(*locked, function, blocks, command);
}

// One pointer per parameter; the kernel's metadata says how much each points at.
Status launch_array(void* function, std::uint32_t blocks, aclrtStream stream, const aclrtLaunchKernelCfg* config,
                    void** arguments, std::size_t dynamic_size) {
    CANOPY_TRY(check_launch(function, blocks, "func"));
    Result<Pin<Function>> pinned = find_function(function);
    if (!pinned.ok()) return pinned.status();
    const KernelInfo& info = (*pinned)->info;
    if (!info.parameters.empty()) CANOPY_TRY(required(arguments, "args"));
    alignas(16) char small[512];
    std::vector<char> large;
    char* block = small;
    const std::size_t size = std::max<std::size_t>(info.arguments_size, sizeof(void*));
    if (size > sizeof(small)) {
        large.resize(size);
        block = large.data();
    }
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        if (!arguments[i]) return fail(code::invalid_parameter, "args[{}] must not be null", i);
        std::memcpy(block + info.parameters[i].offset, arguments[i], info.parameters[i].size);
    }
    return launch_host_arguments(function, blocks, stream, config, block, size, nullptr, 0, dynamic_size);
}

Result<std::uint32_t> simt_blocks(dim3 grid, dim3 block) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    if (!(*context)->record->chip->simt)
        return fail(code::not_supported, "{} has no SIMT cores", (*context)->record->chip->name);
    if (block.x == 0 || block.y == 0 || block.z == 0) return fail(code::invalid_parameter, "blockDim has a zero in it");
    const std::uint64_t blocks = static_cast<std::uint64_t>(grid.x) * grid.y * grid.z;
    if (blocks == 0 || blocks > max_blocks) return fail(code::param_invalid, "gridDim has {} blocks", blocks);
    return fail(code::not_supported, "SIMT kernels cannot be run yet");
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
        Result<LockedStream> locked = LockedStream::acquire(stream);
        if (!locked.ok()) [[unlikely]]
            return locked.status();
        Arguments& arguments = **list;
        SpinGuard guard(arguments.lock);
        if (!arguments.finalised) [[unlikely]]
            return fail(code::param_invalid, "the argument list is not finalised: call aclrtKernelArgsFinalize first");
        if (arguments.function != handle_of(funcHandle)) [[unlikely]]
            return fail(code::param_invalid, "the argument list was made for another function");
        Command command = host_launch(arguments.block.data(), arguments.block.size(), arguments.placeholders.data(),
                                      arguments.placeholders.size());
        CANOPY_TRY(read_config(cfg, command.launch));
        return submit_launch(*locked, funcHandle, numBlocks, command);
    });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg* cfg, void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum) {
    return api([&] {
        return launch_host_arguments(funcHandle, numBlocks, stream, cfg, hostArgs, argsSize, placeHolderArray,
                                     placeHolderNum, 0);
    });
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                        void** args) {
    return api([&] { return launch_array(func, numBlocks, stream, cfg, args, 0); });
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                            aclrtStream stream, aclrtLaunchKernelCfg* cfg, void** args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(func, "func"));
        Result<std::uint32_t> blocks = simt_blocks(gridDim, blockDim);
        if (!blocks.ok()) return blocks.status();
        return launch_array(func, *blocks, stream, cfg, args, dynUbufSize);
    });
}

aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                           aclrtStream stream, aclrtLaunchKernelCfg* cfg, void* hostArgs,
                                           size_t argsSize, aclrtPlaceHolderInfo* placeHolderArray,
                                           size_t placeHolderNum) {
    return api([&]() -> Status {
        CANOPY_TRY(required(func, "func"));
        CANOPY_TRY(required(hostArgs, "hostArgs"));
        Result<std::uint32_t> blocks = simt_blocks(gridDim, blockDim);
        if (!blocks.ok()) return blocks.status();
        return launch_host_arguments(func, *blocks, stream, cfg, hostArgs, argsSize, placeHolderArray, placeHolderNum,
                                     dynUbufSize);
    });
}
