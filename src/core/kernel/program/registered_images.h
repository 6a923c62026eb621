// SPDX-License-Identifier: Apache-2.0
// Kernel images that are part of programs and shared libraries (canopy/launch.h). Static constructors register them,
// before main or while a library is opened, so registering only takes a note. The first use of a kernel or variable
// makes an image a binary; its handle, and the function handle in each launch site, are found again when they have
// ended: after aclFinalize an image is loaded anew.
//
// Threads: all functions from any thread. The registry's mutex is never held while code is loaded or unloaded: the
// dynamic loader calls register_image and unregister_image with its own lock held.
#pragma once

#include <canopy/launch.h>

#include <atomic>
#include <cstddef>
#include <optional>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/kernel/kernel.h"
#include "core/process/runtime.h"

namespace canopy {

void register_image(CanopyEmbeddedImage& image);
// The chip that the program's kernels are for: of the one architecture that its images and those of its libraries were
// compiled for. A program or library with images for several architectures has no say. nullptr: there is none, or they
// disagree.
const Chip* chip_of_registered_images();
// Unloads it from every device.
void unregister_image(CanopyEmbeddedImage& image);

// What a launch site found last: the function's handle, whatever the device.
inline Handle site_function(CanopyLaunchSite& site) noexcept {
    return handle_of(std::atomic_ref(site.state[0]).load(std::memory_order_acquire));  // pairs with load_site
}
// Makes sure that the site's function is loaded on a device, that of the current context.
Result<Handle> load_site(CanopyLaunchSite& site, DeviceRecord& record);

// A function by its handle, or by the host address of a kernel that came with the program.
Result<Pin<Function>> find_function(const void* function);

// Kernels by the address of their host function.
[[nodiscard]] bool is_registered_function(const void* host) noexcept;
// 107044 when there is none; loads its image on the device of the current context.
Result<Handle> function_at(const void* host);

// Variables by the address of their host counterpart.
struct RegisteredVariable {
    Handle binary = 0;
    const char* symbol = nullptr;
    std::size_t size = 0;
};
// 107043 when there is none.
Result<RegisteredVariable> variable_at(const void* host);

}  // namespace canopy
