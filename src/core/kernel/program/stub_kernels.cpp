// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/program/stub_kernels.h"

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/kernel/cpu/cpu_kernels.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "device/image.h"
#include "foundation/elf.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// Programs know it by its first handle; after aclFinalize the binary behind it is a new one.
struct Registered {
    std::vector<std::byte> bytes;  // empty if the binary was not registered here
    std::vector<std::string> kernels;
    bool for_cpu = false;  // a shared object for CPU cores

    Mutex mutex;
    Handle binary CANOPY_GUARDED_BY(mutex) = 0;
    std::map<std::uint64_t, Handle> functions_of_keys CANOPY_GUARDED_BY(mutex);

    // The binary as currently loaded; reopens it if necessary.
    Result<Handle> open() {
        MutexLock guard(mutex);
        if (Runtime::instance().binaries.alive(binary)) return binary;
        if (bytes.empty()) return fail(code::invalid_handle, "the binary has been unloaded");
        Result<Handle> opened = for_cpu ? load_cpu_binary_data(bytes) : open_binary(bytes);
        if (opened.ok()) binary = *opened;
        return opened;
    }

    // A function on the device of the current context.
    Result<Handle> find(std::string_view kernel) {
        Result<Handle> opened = open();
        if (!opened.ok()) return opened;
        if (for_cpu) return register_cpu_function(opaque_of(*opened), kernel, kernel);
        return get_function(opaque_of(*opened), kernel);
    }
};

struct Stub {
    std::shared_ptr<Registered> binary;
    std::string name;
    std::string kernel;
    std::atomic<Handle> function{0};  // resolved by the last launch
};

struct StubRegistry {
    SharedMutex mutex;
    std::unordered_map<Handle, std::shared_ptr<Registered>> binaries CANOPY_GUARDED_BY(mutex);
    std::unordered_map<const void*, std::shared_ptr<Stub>> stubs CANOPY_GUARDED_BY(mutex);
    std::unordered_map<std::string, const void*> names CANOPY_GUARDED_BY(mutex);
};

StubRegistry& stub_registry() { return process_state<StubRegistry>(); }

Result<std::vector<std::string>> names_of_kernels(std::span<const std::byte> bytes) {
    Result<Image> image = read_image(bytes);
    if (!image.ok()) return image.status();
    std::vector<std::string> names;
    for (const ImageKernel& kernel : image->kernels) names.push_back(kernel.name);
    return names;
}

Result<std::vector<std::string>> names_of_functions(std::span<const std::byte> bytes) {
    const Expected<ElfFile> file = ElfFile::read(bytes);
    if (!file.ok()) return fail(code::param_invalid, "{}", file.message());
    const Expected<std::vector<ElfSymbol>> symbols = file->symbols();
    if (!symbols.ok()) return fail(code::param_invalid, "{}", symbols.message());
    std::vector<std::string> names;
    for (const ElfSymbol& symbol : *symbols)
        if (symbol.binding != STB_LOCAL && symbol.type == STT_FUNC) names.emplace_back(symbol.name);
    return names;
}

std::shared_ptr<Registered> find_registered(const void* binary) {
    StubRegistry& all = stub_registry();
    ReaderLock guard(all.mutex);
    const auto found = all.binaries.find(handle_of(binary));
    return found == all.binaries.end() ? nullptr : found->second;
}

// Like find_registered, but also registers a binary that was loaded in another way.
Result<std::shared_ptr<Registered>> registered_binary(const void* opaque) {
    if (std::shared_ptr<Registered> known = find_registered(opaque)) return known;
    Result<Pin<Binary>> binary = find_binary(opaque);
    if (!binary.ok()) return binary.status();
    auto made = std::make_shared<Registered>();
    {
        MutexLock guard((*binary)->mutex);
        made->for_cpu = (*binary)->cpu != nullptr;
        if (made->for_cpu && !cpu_binary(**binary).image)
            return fail(code::param_invalid, "{} has no shared object in which stubs could be registered",
                        (*binary)->cpu->origin);
        Result<std::vector<std::string>> kernels =
            made->for_cpu ? names_of_functions((*binary)->image) : names_of_kernels((*binary)->image);
        if (!kernels.ok()) return kernels.status();
        made->kernels = std::move(*kernels);
    }
    {
        MutexLock guard(made->mutex);
        made->binary = (*binary)->self;
    }
    StubRegistry& all = stub_registry();
    WriterLock guard(all.mutex);
    return all.binaries.try_emplace(handle_of(opaque), std::move(made)).first->second;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::shared_ptr<Stub> find_stub(const void* address) {
    StubRegistry& all = stub_registry();
    ReaderLock guard(all.mutex);
    const auto found = all.stubs.find(address);
    return found == all.stubs.end() ? nullptr : found->second;
}

}  // namespace

namespace {

Result<Handle> register_bytes(std::span<const std::byte> bytes, Result<std::vector<std::string>> kernels,
                              bool for_cpu) {
    if (!kernels.ok()) return kernels.status();
    auto made = std::make_shared<Registered>();
    made->bytes.assign(bytes.begin(), bytes.end());
    made->kernels = std::move(*kernels);
    made->for_cpu = for_cpu;
    Result<Handle> opened = made->open();
    if (!opened.ok()) return opened;
    StubRegistry& all = stub_registry();
    WriterLock guard(all.mutex);
    all.binaries[*opened] = std::move(made);
    return opened;
}

}  // namespace

Result<Handle> register_binary(std::span<const std::byte> bytes) {
    return register_bytes(bytes, names_of_kernels(bytes), false);
}

Result<Handle> register_cpu_binary(std::span<const std::byte> bytes) {
    return register_bytes(bytes, names_of_functions(bytes), true);
}

Status unregister_binary(const void* opaque) {
    std::shared_ptr<Registered> gone;
    {
        StubRegistry& all = stub_registry();
        WriterLock guard(all.mutex);
        if (const auto found = all.binaries.find(handle_of(opaque)); found != all.binaries.end()) {
            gone = std::move(found->second);
            all.binaries.erase(found);
        }
        for (auto stub = all.stubs.begin(); stub != all.stubs.end();) {
            if (stub->second->binary != gone) {
                ++stub;
                continue;
            }
            all.names.erase(stub->second->name);
            stub = all.stubs.erase(stub);
        }
    }
    if (!gone) return unload_binary(opaque);
    MutexLock guard(gone->mutex);
    if (Runtime::instance().binaries.alive(gone->binary)) return unload_binary(opaque_of(gone->binary));
    return {};
}

Status register_stub(const void* opaque, const void* address, std::string_view name, std::string_view kernel) {
    Result<std::shared_ptr<Registered>> binary = registered_binary(opaque);
    if (!binary.ok()) return binary.status();
    const std::vector<std::string>& kernels = (*binary)->kernels;
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
        return fail(code::param_invalid, "the binary has no kernel named {}; it has: {}", kernel, joined(kernels));
    auto stub = std::make_shared<Stub>();
    stub->binary = *binary;
    stub->name = name;
    stub->kernel = kernel;
    StubRegistry& all = stub_registry();
    WriterLock guard(all.mutex);
    if (const auto taken = all.stubs.find(address); taken != all.stubs.end())
        return fail(code::kernel_duplicate, "stub {} is already registered, for kernel {}", as_address(address),
                    taken->second->kernel);
    if (!all.names.try_emplace(stub->name, address).second)
        return fail(code::kernel_duplicate, "a stub named {} is already registered", name);
    all.stubs.emplace(address, std::move(stub));
    return {};
}

Result<const void*> stub_of_name(std::string_view name) {
    StubRegistry& all = stub_registry();
    ReaderLock guard(all.mutex);
    if (const auto found = all.names.find(std::string(name)); found != all.names.end()) return found->second;
    return fail(code::kernel_lookup, "no stub named {} is registered", name);
}

Result<Handle> function_of_stub(const void* address) {
    const std::shared_ptr<Stub> stub = find_stub(address);
    if (!stub) {
        if (is_registered_function(address)) return function_at(address);
        return fail(code::kernel_lookup, "stub {} is not registered: call rtFunctionRegister first",
                    as_address(address));
    }
    const Handle known = stub->function.load(std::memory_order_acquire);
    if (Runtime::instance().functions.alive(known)) return known;
    Result<Handle> function = stub->binary->find(stub->kernel);
    if (function.ok()) stub->function.store(*function, std::memory_order_release);
    return function;
}

Result<Handle> function_of_key(const void* opaque, std::uint64_t key) {
    Result<std::shared_ptr<Registered>> found = registered_binary(opaque);
    if (!found.ok()) return found.status();
    Registered& registered = **found;
    {
        MutexLock guard(registered.mutex);
        const auto known = registered.functions_of_keys.find(key);
        if (known != registered.functions_of_keys.end() && Runtime::instance().functions.alive(known->second))
            return known->second;
    }
    const std::string suffix = "_" + std::to_string(key);
    const auto named = std::find_if(registered.kernels.begin(), registered.kernels.end(),
                                    [&](const std::string& name) { return name.ends_with(suffix); });
    if (named == registered.kernels.end())
        return fail(code::param_invalid, "the binary has no kernel with key {}; it has: {}", key,
                    joined(registered.kernels));
    Result<Handle> function = registered.find(*named);
    if (!function.ok()) return function;
    MutexLock guard(registered.mutex);
    registered.functions_of_keys[key] = *function;
    return function;
}

}  // namespace canopy
