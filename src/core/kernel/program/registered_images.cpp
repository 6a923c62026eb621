// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/program/registered_images.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/process/context.h"
#include "device/image.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct FoundVariable {
    CanopyEmbeddedImage* image = nullptr;
    const CanopyEmbeddedVariable* variable = nullptr;
};

struct Registry {
    Mutex mutex;
    std::vector<CanopyEmbeddedImage*> images CANOPY_GUARDED_BY(mutex);
    // Caches of earlier lookups; cleared when an image is added or removed.
    std::unordered_map<const void*, CanopyLaunchSite*> sites CANOPY_GUARDED_BY(mutex);
    std::unordered_map<const void*, FoundVariable> variables CANOPY_GUARDED_BY(mutex);
};

Registry& registry() { return process_state<Registry>(); }

// Only the first of the image's state words is used: the handle of its binary, or 0.
void*& binary_word(CanopyEmbeddedImage& image) noexcept { return image.state[0]; }

void note_image(Registry& all, CanopyEmbeddedImage& image) CANOPY_REQUIRES(all.mutex) {
    if (std::find(all.images.begin(), all.images.end(), &image) != all.images.end()) return;
    all.images.push_back(&image);
    all.sites.clear();
    all.variables.clear();
}

// Adds the architectures of an image. An unreadable image adds none; launching its kernels reports the reason.
void add_architectures(const CanopyEmbeddedImage& image, std::set<std::uint32_t>& to) {
    if (image.version != CANOPY_LAUNCH_VERSION || !image.bytes || image.size == 0) return;
    for (const std::uint32_t architecture :
         image_architectures({static_cast<const std::byte*>(image.bytes), image.size}))
        to.insert(architecture);
}

// The image's binary; opened now if it is not open.
Result<Handle> binary_of(CanopyEmbeddedImage& image) {
    if (image.version != CANOPY_LAUNCH_VERSION)
        return fail(code::param_invalid,
                    "the kernels of {} were compiled for launch interface {}; this release has {}. Recompile it",
                    image.source ? image.source : "a program", image.version, CANOPY_LAUNCH_VERSION);
    if (!image.bytes || image.size == 0)
        return fail(code::param_invalid, "the program contains no kernel image for {}",
                    image.source ? image.source : "its kernels");
    Runtime& runtime = Runtime::instance();  // created before locking: creation reads the images
    Registry& all = registry();
    MutexLock guard(all.mutex);
    note_image(all, image);
    if (const Handle known = handle_of(binary_word(image)); runtime.binaries.alive(known)) return known;
    Result<Handle> binary = open_binary({static_cast<const std::byte*>(image.bytes), image.size});
    if (binary.ok()) binary_word(image) = opaque_of(*binary);
    return binary;
}

CanopyLaunchSite* find_site(Registry& all, const void* host) CANOPY_REQUIRES(all.mutex) {
    if (const auto known = all.sites.find(host); known != all.sites.end()) return known->second;
    for (const CanopyEmbeddedImage* image : all.images)
        for (CanopyLaunchSite* site = image->sites; site != image->sites_end; ++site)
            if (site->function == host && site->image) return all.sites[host] = site;
    return nullptr;
}

FoundVariable find_variable(Registry& all, const void* host) CANOPY_REQUIRES(all.mutex) {
    if (const auto known = all.variables.find(host); known != all.variables.end()) return known->second;
    for (CanopyEmbeddedImage* image : all.images)
        for (std::uint32_t index = 0; index < image->variable_count; ++index)
            if (image->variables[index].host == host)
                return all.variables[host] = FoundVariable{image, &image->variables[index]};
    return {};
}

Result<Handle> load_site_once(CanopyLaunchSite& site, DeviceRecord& record) {
    Result<Handle> binary = binary_of(*site.image);
    if (!binary.ok()) return binary.status();
    Result<Handle> handle = get_function_by_key(*binary, site.key);
    if (!handle.ok()) return handle.status();
    const Pin<Function> function = Runtime::instance().functions.pin(*handle);
    if (!function) return fail(code::invalid_handle, "kernel {} was unloaded in the meantime", site.key);
    Result<Kernel*> kernel = kernel_for(*function, record);
    if (!kernel.ok()) return kernel.status();
    std::atomic_ref(site.state[0]).store(opaque_of(*handle), std::memory_order_release);  // pairs with site_function
    return handle;
}

}  // namespace

void register_image(CanopyEmbeddedImage& image) {
    {
        Registry& all = registry();
        MutexLock guard(all.mutex);
        note_image(all, image);
    }
    if (Runtime* runtime = Runtime::existing()) runtime->images_changed();
}

// Images of one program or library share the same range of launch sites.
const Chip* chip_of_registered_images() {
    std::map<const CanopyLaunchSite*, std::set<std::uint32_t>> parts;
    {
        Registry& all = registry();
        MutexLock guard(all.mutex);
        for (const CanopyEmbeddedImage* image : all.images) add_architectures(*image, parts[image->sites]);
    }
    std::set<std::uint32_t> said;
    for (const auto& [sites, architectures] : parts)
        if (architectures.size() == 1) said.insert(*architectures.begin());
    return said.size() == 1 ? chip_of_architecture(*said.begin()) : nullptr;
}

void unregister_image(CanopyEmbeddedImage& image) {
    Registry& all = registry();
    Handle binary = 0;
    {
        MutexLock guard(all.mutex);
        std::erase(all.images, &image);
        all.sites.clear();
        all.variables.clear();
        binary = handle_of(std::exchange(binary_word(image), nullptr));
    }
    if (binary != 0 && Runtime::instance().binaries.alive(binary)) unload_binary(opaque_of(binary)).ignore();
}

Result<Handle> load_site(CanopyLaunchSite& site, DeviceRecord& record) {
    if (!site.image || !site.key) return fail(code::invalid_device_function, "the launch site belongs to no image");
    // Another thread may finalise the runtime between two steps; 8 attempts are enough unless it does so constantly.
    for (int turn = 1;; ++turn) {
        Result<Handle> function = load_site_once(site, record);
        if (function.ok() || function.status().code() != code::invalid_handle || turn == 8) return function;
    }
}

bool is_registered_function(const void* host) noexcept {
    Registry& all = registry();
    MutexLock guard(all.mutex);
    return find_site(all, host) != nullptr;
}

Result<Handle> function_at(const void* host) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    CanopyLaunchSite* site = nullptr;
    {
        Registry& all = registry();
        MutexLock guard(all.mutex);
        site = find_site(all, host);
    }
    if (!site)
        return fail(code::invalid_device_function, "symbol {} is not the host function of a registered kernel",
                    as_address(host));
    return load_site(*site, *(*context)->record);
}

Result<Pin<Function>> find_function(const void* opaque) {
    HandleTable<Function>& functions = Runtime::instance().functions;
    if (Pin<Function> function = functions.pin(handle_of(opaque))) return function;
    if (is_registered_function(opaque)) {
        Result<Handle> handle = function_at(opaque);
        if (!handle.ok()) return handle.status();
        if (Pin<Function> function = functions.pin(*handle)) return function;
    }
    return fail(code::invalid_handle, "function handle {} is not a function of a loaded binary", as_address(opaque));
}

Result<RegisteredVariable> variable_at(const void* host) {
    FoundVariable found;
    {
        Registry& all = registry();
        MutexLock guard(all.mutex);
        found = find_variable(all, host);
    }
    if (!found.image)
        return fail(code::invalid_symbol, "symbol {} is not registered: no image of the program has a variable for it",
                    as_address(host));
    Result<Handle> binary = binary_of(*found.image);
    if (!binary.ok()) return binary.status();
    return RegisteredVariable{*binary, found.variable->symbol, found.variable->size};
}

}  // namespace canopy
