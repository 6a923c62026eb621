// SPDX-License-Identifier: Apache-2.0
// Launches of programs that canopy-cc compiled: registration of their images, and `kernel<<<...>>>(...)`.
#pragma GCC visibility push(default)
#include <canopy/launch.h>
#pragma GCC visibility pop

#include <cstring>
#include <vector>

#include "api/api.h"
#include "api/launch_checks.h"
#include "core/fusion/fusion.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/refused_launches.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

__attribute__((tls_model("initial-exec"))) thread_local CanopyPendingLaunch* pending_launch = nullptr;

// The number of blocks, after a look at everything that does not need the kernel.
Result<std::uint32_t> check_launch(const CanopyLaunchSite* site, const CanopyConfiguration* configuration,
                                   const void* arguments, std::size_t size) {
    CANOPY_TRY(required(site, "site"));
    if (!configuration) [[unlikely]]
        return fail(code::param_invalid, "kernel {} was called like a function: a launch needs <<<...>>>",
                    site->key ? site->key : "?");
    if (size != 0) CANOPY_TRY(required(arguments, "arguments"));
    const std::uint64_t blocks = product(configuration->grid);
    CANOPY_TRY(check_blocks(blocks));
    if (configuration->dynamic_size > UINT32_MAX) [[unlikely]]
        return fail(code::param_invalid, "{} bytes of dynamic memory are more than any core has",
                    configuration->dynamic_size);
    return static_cast<std::uint32_t>(blocks);
}

Command launch_command(const CanopyConfiguration& configuration, std::uint32_t blocks, const void* arguments,
                       std::size_t size) {
    Command command(Opcode::launch);
    command.launch = {};
    command.launch.arguments = arguments;
    command.launch.arguments_size = static_cast<std::uint32_t>(size);
    command.launch.blocks = blocks;
    command.launch.dynamic_size = static_cast<std::uint32_t>(configuration.dynamic_size);
    return command;
}

Status submit(LockedStream& stream, const Kernel& kernel, bool threads, Command& command) {
    command.launch.kernel = &kernel;
    CANOPY_TRY(check_form(*kernel.info, threads));
    if (command.launch.arguments_size < kernel.info->arguments_size) [[unlikely]]
        return fail(code::param_invalid, "the program passes {} bytes to kernel {}, which takes {}: recompile it",
                    command.launch.arguments_size, kernel.info->name, kernel.info->arguments_size);
    if (command.launch.dynamic_size > stream->record->chip->unified_buffer) [[unlikely]]
        return fail(code::param_invalid, "{} bytes of dynamic memory; a core of {} has {}", command.launch.dynamic_size,
                    stream->record->chip->name, stream->record->chip->unified_buffer);
    if (kernel.info->list) [[unlikely]]
        CANOPY_TRY(choose_fused(command.launch, *stream->record));
    return stream.submit(command);
}

// The kernel of a site that was used before on this device is found without a lock but the stream's.
Status launch_site(CanopyLaunchSite& site, void* stream, bool threads, Command& command) {
    for (;;) {
        DeviceRecord* record = nullptr;
        {
            Result<LockedStream> locked = LockedStream::acquire(stream);
            if (!locked.ok()) [[unlikely]]
                return locked.status();
            record = (*locked)->record;
            if (const Kernel* kernel = loaded_kernel(site_function(site), *record)) [[likely]]
                return submit(*locked, *kernel, threads, command);
        }
        if (const Result<Handle> loaded = load_site(site, *record); !loaded.ok()) return loaded.status();
    }
}

// The dimensions are the last slot of a SIMT kernel's argument block; threads that were not given are one.
Status launch_threads(CanopyLaunchSite& site, const CanopyConfiguration& configuration, std::uint32_t blocks,
                      const void* arguments, std::size_t size) {
    CanopyGrid grid = {};
    std::memcpy(grid.grid, configuration.grid, sizeof(grid.grid));
    std::memcpy(grid.block, configuration.threads, sizeof(grid.block));
    if ((grid.block[0] | grid.block[1] | grid.block[2]) == 0) grid.block[0] = grid.block[1] = grid.block[2] = 1;
    CANOPY_TRY(check_grid(grid));
    if (size < sizeof(grid))
        return fail(code::param_invalid, "{} bytes of arguments are too few for a grid: recompile the program", size);
    std::vector<char> block(static_cast<const char*>(arguments), static_cast<const char*>(arguments) + size);
    std::memcpy(block.data() + size - sizeof(grid), &grid, sizeof(grid));
    Command command = launch_command(configuration, blocks, block.data(), size);
    return launch_site(site, configuration.stream, true, command);
}

}  // namespace

extern "C" {

CanopyPendingLaunch** canopyPendingLaunch(void) { return &pending_launch; }

void canopyRegisterImage(CanopyEmbeddedImage* image) {
    api([&]() -> Status {
        CANOPY_TRY(required(image, "image"));
        register_image(*image);
        return {};
    });
}

void canopyUnregisterImage(CanopyEmbeddedImage* image) {
    api([&]() -> Status {
        CANOPY_TRY(required(image, "image"));
        unregister_image(*image);
        return {};
    });
}

int canopyLaunch(CanopyLaunchSite* site, const CanopyConfiguration* configuration, const void* arguments, size_t size) {
    const auto launch = [&]() -> Status {
        const Result<std::uint32_t> blocks = check_launch(site, configuration, arguments, size);
        if (!blocks.ok()) [[unlikely]]
            return blocks.status();
        if ((site->flags & CANOPY_LAUNCH_THREADS) != 0) [[unlikely]]
            return launch_threads(*site, *configuration, blocks.value(), arguments, size);
        if (product(configuration->threads) > 1) [[unlikely]]
            return fail(code::param_invalid, "kernel {} is not a SIMT kernel: it takes blocks, not threads", site->key);
        Command command = launch_command(*configuration, blocks.value(), arguments, size);
        return launch_site(*site, configuration->stream, false, command);
    };
    const int code = api(launch, "<<<>>>");
    if (code != 0) [[unlikely]]
        report_refused_launch(site && site->key ? site->key : "?", configuration ? configuration->stream : nullptr,
                              code);
    return code;
}

}  // extern "C"
