// SPDX-License-Identifier: Apache-2.0
// Launches by programs compiled with canopy-cc: registration of their images, and `kernel<<<...>>>(...)`.
#pragma GCC visibility push(default)
#include <canopy/launch.h>
#pragma GCC visibility pop

#include <cstring>
#include <vector>

#include "api/api.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/launch.h"
#include "core/launch/refused_launches.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

__attribute__((tls_model("initial-exec"))) thread_local CanopyPendingLaunch* pending_launch = nullptr;

// Returns the number of blocks after all checks that do not need the kernel.
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

LaunchRequest launch_request(const CanopyConfiguration& configuration, std::uint32_t blocks, const void* arguments,
                             std::size_t size) {
    LaunchRequest request(arguments, size, blocks);
    request.compiled = true;
    request.work().dynamic_size = static_cast<std::uint32_t>(configuration.dynamic_size);
    return request;
}

// The dimensions are the last slot of a SIMT kernel's argument block; missing thread counts default to one.
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
    LaunchRequest request = launch_request(configuration, blocks, block.data(), size);
    request.threads = true;
    return launch_site(site, configuration.stream, request);
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
        LaunchRequest request = launch_request(*configuration, blocks.value(), arguments, size);
        return launch_site(*site, configuration->stream, request);
    };
    const int code = api(launch, "<<<>>>");
    if (code != 0) [[unlikely]]
        report_refused_launch(site && site->key ? site->key : "?", configuration ? configuration->stream : nullptr,
                              code);
    return code;
}

}  // extern "C"
