// SPDX-License-Identifier: Apache-2.0
// Launching kernels: the common path of all launch calls, including `<<<>>>`. A caller turns its arguments into a
// LaunchRequest; checks that depend on the kernel or the chip are made here, with the stream locked. Any thread.
#pragma once

#include <canopy/kernel_abi.h>
#include <canopy/launch.h>

#include <cstdint>

#include "base/error_text.h"
#include "base/result.h"
#include "core/base/error_codes.h"
#include "core/base/handles.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/stream/stream.h"
#include "device/device.h"

namespace canopy {

// ---- checks that need no kernel ------------------------------------------------------------------------------------

inline constexpr std::uint32_t max_blocks = 65535;

inline Status check_blocks(std::uint64_t blocks) {
    if (blocks == 0 || blocks > max_blocks) [[unlikely]]
        return fail(code::param_invalid, "numBlocks {} is not between 1 and {}", blocks, max_blocks);
    return {};
}

// Saturates: a product that does not fit exceeds every limit.
inline std::uint64_t product(const std::uint32_t (&dimensions)[3]) noexcept {
    std::uint64_t result = 0;
    if (__builtin_mul_overflow(std::uint64_t{dimensions[0]} * dimensions[1], std::uint64_t{dimensions[2]}, &result))
        return UINT64_MAX;
    return result;
}

// The dimensions of a SIMT launch.
inline Status check_grid(const CanopyGrid& grid) {
    if (product(grid.block) == 0)
        return fail(code::invalid_parameter, "blockDim {}x{}x{} contains a zero", grid.block[0], grid.block[1],
                    grid.block[2]);
    if (product(grid.block) > CANOPY_MAX_THREADS)
        return fail(code::param_invalid, "blockDim {}x{}x{} has {} threads; a block has {} at most", grid.block[0],
                    grid.block[1], grid.block[2], product(grid.block), CANOPY_MAX_THREADS);
    if (product(grid.grid) == 0 || product(grid.grid) > max_blocks)
        return fail(code::param_invalid, "gridDim {}x{}x{} has {} blocks; a launch has 1 to {}", grid.grid[0],
                    grid.grid[1], grid.grid[2], product(grid.grid), max_blocks);
    return {};
}

inline Status check_simt_chip(const Chip& chip) {
    if (!chip.simt) return fail(code::not_supported, "{} has no SIMT cores", chip.name);
    return {};
}

// A kernel must be launched as it was written: with threads or without.
inline Status check_form(const KernelInfo& info, bool threads) {
    if (info.simt == threads) [[likely]]
        return {};
    if (threads)
        return fail(code::param_invalid, "kernel {} is not a SIMT kernel: it takes a number of blocks, not of threads",
                    info.name);
    return fail(code::param_invalid, "kernel {} is a SIMT kernel: its launch must say how many threads a block has",
                info.name);
}

// ---- one launch ----------------------------------------------------------------------------------------------------

struct LaunchRequest {
    // Everything except the kernel, which determines the opcode.
    Command command{Opcode::launch};
    bool threads = false;   // a SIMT launch; its dimensions are in the argument block
    bool compiled = false;  // arguments were packed by a stub from canopy-cc, in the kernel's layout

    LaunchRequest(const void* arguments, std::size_t size, std::uint32_t blocks) noexcept {
        command.launch = {};
        command.launch.set_arguments(arguments);
        command.launch.arguments_size = static_cast<std::uint32_t>(size);
        command.launch.blocks = blocks;
    }
    [[nodiscard]] LaunchWork& work() noexcept { return command.launch; }
};

// The rare paths of `complete` and `launch`.
Status complete_unusual(Command& command, DeviceRecord& record);
Status launch_short(LockedStream& stream, LaunchRequest& request);

// Puts the kernel into a launch, for streams and for graph tasks: it determines the opcode, and a list kernel is
// replaced by the fused kernel for these arguments. 107000 if the launch asks for more memory than a core has. The
// kernel's code must stay loaded during the call.
[[gnu::always_inline]] inline Status complete(Command& command, const Kernel& kernel, DeviceRecord& record) {
    command.launch.kernel = &kernel;
    command.opcode = kernel.info->core == CoreType::cpu ? Opcode::cpu_kernel : Opcode::launch;
    if (!kernel.info->list && command.launch.dynamic_size == 0) [[likely]]
        return {};
    return complete_unusual(command, record);
}

[[gnu::always_inline]] inline Status launch(LockedStream& stream, const Kernel& kernel, LaunchRequest& request) {
    CANOPY_TRY(check_form(*kernel.info, request.threads));
    if (request.command.launch.arguments_size < kernel.info->arguments_size) [[unlikely]] {
        request.command.launch.kernel = &kernel;
        return launch_short(stream, request);
    }
    CANOPY_TRY(complete(request.command, kernel, *stream->record));
    return stream.submit(request.command);
}

// ---- by function or by site ----------------------------------------------------------------------------------------

// Locks the stream and calls body(LockedStream&, const Kernel&) with the kernel of function() on the stream's device.
// If the function has not been used there yet, load(DeviceRecord&) loads it, with the stream unlocked.
template <class Function, class Load, class Body>
[[gnu::always_inline]] inline Status with_loaded_kernel(const void* stream, Function&& function, Load&& load,
                                                        Body&& body) {
    for (;;) {
        DeviceRecord* record = nullptr;
        {
            Result<LockedStream> locked = LockedStream::acquire(stream);
            if (!locked.ok()) [[unlikely]]
                return locked.status();
            record = (*locked)->record;
            if (const Kernel* kernel = loaded_kernel(function(), *record)) [[likely]]
                return body(*locked, *kernel);
        }
        CANOPY_TRY(load(*record));
    }
}

// Accepts a function handle or the address of a kernel's host function.
Result<Handle> function_handle(const void* function);
Status load_function(Handle function, DeviceRecord& record);

// Calls body(LockedStream&, const Kernel&, function handle); body launches.
template <class Body>
[[gnu::always_inline]] inline Status with_function(const void* function, const void* stream, Body&& body) {
    Handle handle = handle_of(function);
    if (kind_of(handle) != HandleKind::function) [[unlikely]] {
        Result<Handle> found = function_handle(function);
        if (!found.ok()) return found.status();
        handle = *found;
    }
    return with_loaded_kernel(
        stream, [&] { return handle; }, [&](DeviceRecord& record) { return load_function(handle, record); },
        [&](LockedStream& locked, const Kernel& kernel) { return body(locked, kernel, handle); });
}

[[gnu::always_inline]] inline Status launch_function(const void* function, const void* stream, LaunchRequest& request) {
    return with_function(function, stream, [&](LockedStream& locked, const Kernel& kernel, Handle) {
        return launch(locked, kernel, request);
    });
}

[[gnu::always_inline]] inline Status launch_site(CanopyLaunchSite& site, const void* stream, LaunchRequest& request) {
    return with_loaded_kernel(
        stream, [&] { return site_function(site); },
        [&](DeviceRecord& record) { return load_site(site, record).status(); },
        [&](LockedStream& locked, const Kernel& kernel) { return launch(locked, kernel, request); });
}

}  // namespace canopy
