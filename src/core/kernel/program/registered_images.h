// SPDX-License-Identifier: Apache-2.0
// Kernel images embedded in programs and shared libraries (canopy/launch.h). Static constructors register them before
// main or while a library is opened, so registration only records the image. The first use of a kernel or variable
// turns the image into a binary. The binary's handle, and the function handle in each launch site, are looked up again
// once they are closed: after aclFinalize an image is reloaded.
//
// Threads: all functions from any thread. The registry's mutex is never held while code is loaded or unloaded: the
// dynamic loader calls register_image and unregister_image with its own lock held.
#pragma once

#include <canopy/launch.h>

#include <atomic>
#include <cstddef>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/kernel/kernel.h"
#include "core/process/runtime.h"

namespace canopy {

void register_image(CanopyEmbeddedImage& image);
// The chip that the program's kernels were compiled for: that of the one architecture shared by the images of the
// program and its libraries. A program or library with images for several architectures is ignored. nullptr if there is
// none, or if they disagree.
const Chip* chip_of_registered_images();
// Also unloads it from every device.
void unregister_image(CanopyEmbeddedImage& image);

// The function handle that a launch site last resolved to; the same for all devices.
inline Handle site_function(CanopyLaunchSite& site) noexcept {
    return handle_of(std::atomic_ref(site.state[0]).load(std::memory_order_acquire));  // pairs with load_site
}
// Makes sure the site's function is loaded on `record`, the device of the current context.
Result<Handle> load_site(CanopyLaunchSite& site, DeviceRecord& record);

// A function by its handle, or by the host address of a kernel embedded in the program.
Result<Pin<Function>> find_function(const void* function);

// Kernels by the address of their host function.
[[nodiscard]] bool is_registered_function(const void* host) noexcept;
// 107044 if there is none; loads its image on the device of the current context.
Result<Handle> function_at(const void* host);

// Variables by the address of their host counterpart.
struct RegisteredVariable {
    Handle binary = 0;
    const char* symbol = nullptr;
    std::size_t size = 0;
};
// 107043 if there is none.
Result<RegisteredVariable> variable_at(const void* host);

}  // namespace canopy
