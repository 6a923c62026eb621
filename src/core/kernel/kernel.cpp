// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/kernel.h"

#include <new>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/kernel/kernel_hooks.h"
#include "core/kernel/variable_fillers.h"
#include "core/memory/device_variables.h"
#include "core/process/context.h"
#include "core/process/process_log.h"
#include "core/stream/stream.h"
#include "device/image.h"
#include "foundation/mutex.h"

namespace canopy {

// ---- binaries ------------------------------------------------------------------------------------------------------

void Binary::recycle() noexcept {
    exception_function.store(nullptr, std::memory_order_relaxed);
    exception_argument.store(nullptr, std::memory_order_relaxed);
    MutexLock guard(mutex);
    self = context = 0;
    unloading = false;
    image = {};
    bytes = {};
    for (auto& module : modules) module.reset();
    functions.clear();
    cpu.reset();
}

void Function::recycle() noexcept {
    for (auto& kernel : kernels) kernel.store(nullptr, std::memory_order_release);
    cpu.reset();
    MutexLock guard(mutex);
    arguments.clear();
}

namespace {

using Modules = std::vector<std::shared_ptr<Module>>;

// Modules a stream keeps until it has passed their last launch. Closing code waits for the dynamic loader, and the
// thread holding the loader may be waiting for this very stream. So the stream only pushes the modules onto a list, and
// the next module_for load or unload closes them.
struct Kept {
    Modules modules;
    Kept* next = nullptr;
};
std::atomic<Kept*> retired{nullptr};

void retire(void* data) {
    auto* kept = static_cast<Kept*>(data);
    kept->next = retired.load(std::memory_order_relaxed);
    while (!retired.compare_exchange_weak(kept->next, kept, std::memory_order_release)) {  // pairs with close_retired
    }
}

void close_retired() {
    std::unique_ptr<Kept> kept(retired.exchange(nullptr, std::memory_order_acquire));
    while (kept) kept.reset(kept->next);
}

}  // namespace

void close_later(std::vector<std::shared_ptr<Module>> modules) noexcept {
    std::erase(modules, nullptr);
    if (modules.empty()) return;
    if (auto* kept = new (std::nothrow) Kept) {
        kept->modules = std::move(modules);
        retire(kept);
    }
}

Result<std::shared_ptr<Module>> Binary::module_for(DeviceRecord& record) {
    if (cpu) return fail(code::param_invalid, "{} holds CPU kernels: this is for kernels of AI cores", cpu->origin);
    const auto present = [&]() -> Result<std::shared_ptr<Module>> {
        MutexLock guard(mutex);
        if (unloading) return fail(code::invalid_handle, "the binary is being unloaded");
        return modules[record.index];
    };
    Result<std::shared_ptr<Module>> found = present();
    if (!found.ok() || *found) return found;
    MutexLock guard(loading);
    found = present();
    if (!found.ok() || *found) return found;
    Result<Device*> device = record.open();
    if (!device.ok()) return device.status();
    close_retired();
    Result<std::unique_ptr<Module>> loaded = (*device)->load(image);
    if (!loaded.ok()) return loaded.status();
    std::shared_ptr<Module> module = std::move(*loaded);
    CANOPY_TRY(fill_variables(*module));
    MutexLock state(mutex);
    if (unloading) return fail(code::invalid_handle, "the binary is being unloaded");
    modules[record.index] = module;
    const auto kernels = module->kernels();
    log_line(LogModule::runtime, LogLevel::information, "binary", "device {}: code of {} kernels ({}) is loaded",
             record.index, kernels.size(), kernels.empty() ? std::string_view("none") : kernels.front().name);
    return module;
}

namespace {

// Reads the image now, so that even a lazily loaded one is rejected here and not at first use.
Result<Handle> make_binary(std::vector<std::byte> bytes, std::span<const std::byte> image, Handle context, bool lazy) {
    if (Result<Image> read = read_image(image); !read.ok()) return read.status();
    const Handle handle = Runtime::instance().binaries.open([&](Binary& binary, Handle self) {
        MutexLock guard(binary.mutex);
        binary.self = self;
        binary.context = context;
        binary.lazy = lazy;
        binary.bytes = std::move(bytes);  // moving does not relocate the bytes
        binary.image = image;
    });
    if (handle == 0) return fail(code::resource_alloc, "too many binaries are alive");
    return handle;
}

}  // namespace

Result<Handle> open_binary(std::span<const std::byte> image) { return make_binary({}, image, 0, true); }

Result<Handle> load_binary(std::vector<std::byte> bytes, const LoadOptions& options) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    const std::span<const std::byte> image = bytes;
    Result<Handle> handle = make_binary(std::move(bytes), image, (*context)->self, options.lazy);
    if (!handle.ok() || options.lazy) return handle;
    Runtime& runtime = Runtime::instance();
    Pin<Binary> binary = runtime.binaries.pin(*handle);
    Result<std::shared_ptr<Module>> module = binary->module_for(*(*context)->record);
    if (!module.ok()) {
        runtime.binaries.close(*handle);
        return module.status();
    }
    return handle;
}

Result<Pin<Binary>> find_binary(const void* opaque) {
    Pin<Binary> binary = Runtime::instance().binaries.pin(handle_of(opaque));
    if (!binary) return fail(code::invalid_handle, "binary handle {} is not a loaded binary", as_address(opaque));
    return binary;
}

namespace {

// Keeps modules alive until the stream has passed every command that may use them.
void keep_until_passed(Stream& stream, const Modules& modules) {
    Command command(Opcode::inline_call);
    command.call.function = retire;
    SpinGuard guard(stream.lock);
    if (!Runtime::instance().streams.alive(stream.self) || stream.queue->completed() == stream.last_sequence) return;
    auto copy = std::make_unique<Kept>();
    copy->modules = modules;
    command.call.argument = copy.get();
    command.task = stream.next_task++;
    Result<std::uint64_t> sequence = stream.queue->submit(std::span(&command, 1));
    if (!sequence.ok()) return;
    stream.last_sequence = *sequence;
    copy.release();
}

void close_functions(const std::vector<Handle>& functions) {
    Runtime& runtime = Runtime::instance();
    for (Handle handle : functions) {
        Pin<Function> function = runtime.functions.pin(handle);
        if (!function) continue;
        runtime.functions.close(handle);
        MutexLock guard(function->mutex);
        for (Handle arguments : function->arguments) runtime.arguments.close(arguments);
    }
}

}  // namespace

Status unload_binary(const void* opaque) {
    Runtime& runtime = Runtime::instance();
    Result<Pin<Binary>> binary = find_binary(opaque);
    if (!binary.ok()) return binary.status();
    if (!runtime.binaries.close((*binary)->self))
        return fail(code::invalid_handle, "binary handle {} is not a loaded binary", as_address(opaque));
    close_retired();
    Modules modules;
    std::vector<std::pair<DeviceRecord*, std::shared_ptr<Module>>> kept;
    std::vector<Handle> functions;
    {
        MutexLock guard((*binary)->mutex);
        (*binary)->unloading = true;
        for (std::size_t index = 0; index < (*binary)->modules.size(); ++index) {
            std::shared_ptr<Module>& module = (*binary)->modules[index];
            if (!module) continue;
            if (Result<DeviceRecord*> record = runtime.device(static_cast<std::int64_t>(index)); record.ok())
                kept.emplace_back(*record, module);
            modules.push_back(std::move(module));
        }
        if ((*binary)->cpu) {
            for (auto& [index, module] : (*binary)->cpu->close()) {
                if (Result<DeviceRecord*> record = runtime.device(index); record.ok())
                    kept.emplace_back(*record, module);
                modules.push_back(std::move(module));
            }
        }
        functions.swap((*binary)->functions);
    }
    close_functions(functions);
    forget_variables((*binary)->self);
    // A thread that found a function alive did so under a stream's lock, and has submitted by the time it is released.
    runtime.streams.for_each([](Pin<Stream> stream) { SpinGuard guard(stream->lock); });
    for (const auto& [record, module] : kept) kernel_hooks.keep_for_graphs(*record, module);
    // Queued and running launches still complete: the code is dropped once the last stream has passed them.
    runtime.streams.for_each([&](Pin<Stream> stream) { keep_until_passed(*stream, modules); });
    return {};
}

void unload_all_binaries() noexcept {
    std::vector<Handle> binaries;
    Runtime::instance().binaries.for_each([&](Pin<Binary> binary) { binaries.push_back(binary->self); });
    for (Handle binary : binaries) unload_binary(opaque_of(binary)).ignore();
    close_retired();
}

// ---- functions -----------------------------------------------------------------------------------------------------

namespace {

// The handle of a kernel found in a binary's module; created on first request.
Result<Handle> open_function(Binary& binary, Kernel& kernel, const DeviceRecord& record) {
    Runtime& runtime = Runtime::instance();
    MutexLock guard(binary.mutex);
    if (binary.unloading) return fail(code::invalid_handle, "the binary is being unloaded");
    for (Handle handle : binary.functions) {
        Pin<Function> known = runtime.functions.pin(handle);
        if (known && known->info.name == kernel.info->name) return handle;
    }
    const Handle handle = runtime.functions.open([&](Function& function, Handle self) {
        function.self = self;
        function.binary = binary.self;
        function.info = *kernel.info;
        function.kernels[record.index].store(&kernel, std::memory_order_release);
    });
    if (handle == 0) return fail(code::resource_alloc, "too many functions are alive");
    binary.functions.push_back(handle);
    std::atomic_ref(kernel.user).store(opaque_of(handle), std::memory_order_release);
    return handle;
}

// Looks up a kernel with `find(Module&)` on the device of the current context.
template <class Find>
Result<Handle> find_in_binary(const void* opaque, std::string_view name, Find&& find) {
    Result<Pin<Binary>> binary = find_binary(opaque);
    if (!binary.ok()) return binary.status();
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    DeviceRecord& record = *(*context)->record;
    Result<std::shared_ptr<Module>> module = (*binary)->module_for(record);
    if (!module.ok()) return module.status();
    if (Kernel* kernel = find(**module)) return open_function(**binary, *kernel, record);
    std::string known;
    for (const KernelInfo& info : (*module)->kernels()) known += (known.empty() ? "" : ", ") + info.name;
    return fail(code::param_invalid, "the binary has no kernel named {}; it has: {}", name, known);
}

}  // namespace

Result<Handle> get_function(const void* binary, std::string_view name) {
    if (name.size() > max_name_length)
        return fail(code::param_invalid, "kernelName has {} characters; at most {} are allowed", name.size(),
                    max_name_length);
    if (Result<Pin<Binary>> found = find_binary(binary); !found.ok())
        return found.status();
    else if ((*found)->cpu)
        return (*found)->cpu->function(**found, name);
    return find_in_binary(binary, name, [&](Module& module) { return module.kernel(name); });
}

Result<Handle> get_function_by_key(Handle binary, std::string_view key) {
    return find_in_binary(opaque_of(binary), key, [&](Module& module) {
        Kernel* kernel = module.kernel_by_key(key);
        return kernel ? kernel : module.kernel(key);
    });
}

Result<Kernel*> kernel_for(Function& function, DeviceRecord& record) {
    if (Kernel* kernel = function.kernels[record.index].load(std::memory_order_acquire)) return kernel;
    Result<Pin<Binary>> binary = find_binary(opaque_of(function.binary));
    if (!binary.ok()) return binary.status();
    if (function.cpu) return (*binary)->cpu->kernel(**binary, function, record);
    Result<std::shared_ptr<Module>> module = (*binary)->module_for(record);
    if (!module.ok()) return module.status();
    Kernel* kernel = (*module)->kernel(function.info.name);
    if (!kernel)
        return fail(code::param_invalid, "kernel {} is missing on device {}", function.info.name, record.index);
    std::atomic_ref(kernel->user).store(opaque_of(function.self), std::memory_order_release);
    function.kernels[record.index].store(kernel, std::memory_order_release);
    return kernel;
}

}  // namespace canopy
