// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/cpu/cpu_kernels.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/process/context.h"
#include "foundation/mutex.h"

namespace canopy {

// ---- loading -------------------------------------------------------------------------------------------------------

namespace {

Result<Handle> open_cpu_binary(std::shared_ptr<CpuBinary> cpu) {
    // Loading works without a context; any context may then unload the binary.
    const Handle context = thread_state.context;
    const std::uint64_t registered = cpu->registered;
    const Handle handle = Runtime::instance().binaries.open([&](Binary& binary, Handle self) {
        MutexLock guard(binary.mutex);
        binary.self = self;
        binary.context = context;
        binary.lazy = true;
        if (cpu->image) binary.image = *cpu->image;
        binary.cpu = std::move(cpu);
    });
    if (handle != 0) return handle;
    if (registered != 0) unregister_cpu_image(registered);
    return fail(code::resource_alloc, "too many binaries are alive");
}

// The files the loader derives from a path, which it cuts at the last dot, even one in a folder name.
struct DescriptorPaths {
    std::string descriptor, library;
};

Result<DescriptorPaths> paths_of(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos)
        return fail(code::param_invalid,
                    "path {} has no extension: the descriptor of CPU kernels is searched under the path up to its last "
                    "dot plus .json, here only '.json'",
                    path);
    const std::string_view stem = path.substr(0, dot);
    return DescriptorPaths{fmt::format("{}.json", stem), fmt::format("{}.so", stem)};
}

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

CpuImageBytes shared(std::vector<std::byte> bytes) {
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

}  // namespace

Result<Handle> load_cpu_descriptor(std::string_view text, std::string_view path) {
    Result<CpuDescriptor> descriptor = read_cpu_descriptor(text, path);
    if (!descriptor.ok()) return descriptor.status();
    auto cpu = std::make_shared<CpuBinary>();
    cpu->origin = path;
    cpu->descriptor = std::move(*descriptor);
    return open_cpu_binary(std::move(cpu));
}

Result<Handle> load_cpu_binary_file(std::string_view path, CpuMode mode) {
    Result<DescriptorPaths> paths = paths_of(path);
    if (!paths.ok()) return paths.status();
    Result<std::vector<std::byte>> text =
        read_whole_file(paths->descriptor, "the descriptor of CPU kernels", max_descriptor_size);
    if (!text.ok()) {
        if (path.rfind('/') != std::string_view::npos && path.rfind('.') < path.rfind('/'))
            return fail(code::param_invalid,
                        "path {} was cut at its last dot, which is in the name of a folder: the file has no extension",
                        path);
        return text.status();
    }
    if (mode == CpuMode::descriptor) return load_cpu_descriptor(text_of(*text), paths->descriptor);
    Result<CpuDescriptor> descriptor = read_cpu_descriptor(text_of(*text), paths->descriptor);
    if (!descriptor.ok()) return descriptor.status();
    Result<std::vector<std::byte>> image =
        read_whole_file(paths->library, "the shared object next to the descriptor", max_cpu_image_size);
    if (!image.ok()) return image.status();
    auto cpu = std::make_shared<CpuBinary>();
    cpu->mode = mode;
    cpu->origin = paths->descriptor;
    cpu->library = base_name(paths->library);
    cpu->descriptor = std::move(*descriptor);
    for (auto& [name, entry] : cpu->descriptor.entries) {  // entries use this object, whatever library they name
        auto own = std::make_shared<CpuEntry>(*entry);
        own->library = cpu->library;
        entry = std::move(own);
    }
    cpu->image = shared(std::move(*image));
    cpu->registered = register_cpu_image(cpu->library, cpu->image);
    return open_cpu_binary(std::move(cpu));
}

Result<Handle> load_cpu_binary_data(std::span<const std::byte> image) {
    if (looks_like_descriptor(image))
        return fail(code::param_invalid,
                    "the data is a JSON descriptor: load it from a file with CPU_KERNEL_MODE 0 or 1; mode 2 takes the "
                    "bytes of a shared object");
    if (image.size() > max_cpu_image_size)
        return fail(code::param_invalid, "the shared object has {} bytes; at most {} are allowed", image.size(),
                    max_cpu_image_size);
    auto cpu = std::make_shared<CpuBinary>();
    cpu->mode = CpuMode::library;
    cpu->library = fmt::format("{:016x}_{}.so", XXH3_64bits(image.data(), image.size()), image.size());
    cpu->origin = fmt::format("{} (loaded from memory)", cpu->library);
    cpu->image = shared({image.begin(), image.end()});
    cpu->registered = register_cpu_image(cpu->library, cpu->image);
    return open_cpu_binary(std::move(cpu));
}

Result<Handle> load_binary_file(const char* path, const LoadOptions& options) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return fail(code::param_invalid, "cannot open kernel image {}: {}", path, std::strerror(errno));
    const std::streamoff size = file.tellg();
    constexpr std::streamoff largest = std::streamoff{1} << 30;
    if (size <= 0 || size > largest)
        return fail(code::param_invalid, "kernel image {} has {} bytes: not a file with an image in it", path, size);
    std::vector<std::byte> image(static_cast<std::size_t>(size));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(image.data()), size))
        return fail(code::param_invalid, "cannot read kernel image {}", path);
    if (looks_like_descriptor(image))
        return load_cpu_descriptor({reinterpret_cast<const char*>(image.data()), image.size()}, path);
    return load_binary(std::move(image), options);
}

std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> CpuBinary::close() {
    if (registered != 0) unregister_cpu_image(registered);
    std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> modules;
    for (Loaded& each : loaded) modules.emplace_back(each.device, std::move(each.module));
    loaded.clear();
    return modules;
}

// ---- from an op type to code ---------------------------------------------------------------------------------------

namespace {

Status being_unloaded() { return fail(code::invalid_handle, "the binary is being unloaded"); }

// The shared object that an entry names.
Result<CpuImageBytes> image_for(Binary& binary, const CpuEntry& entry) {
    CpuBinary& cpu = cpu_binary(binary);
    if (cpu.image) return cpu.image;
    if (entry.library.empty())
        return fail(code::param_invalid, "op type {} of {} names no shared object (kernelSo)", entry.op_type,
                    cpu.origin);
    {
        MutexLock guard(binary.mutex);
        if (const auto known = cpu.found.find(entry.library); known != cpu.found.end()) return known->second;
    }
    Result<CpuImageSource> source = locate_cpu_image(entry.library);
    if (!source.ok()) return source.status();
    Result<CpuImageBytes> bytes = read_cpu_image(*source);
    if (!bytes.ok()) return bytes.status();
    MutexLock guard(binary.mutex);
    cpu.found.emplace(entry.library, *bytes);
    return bytes;
}

const std::string& library_of(const CpuBinary& cpu, const CpuEntry& entry) {
    return cpu.image ? cpu.library : entry.library;
}

// A module where the entry's symbol is not taken by another op type; null if there is none yet.
Result<std::shared_ptr<Module>> module_with(Binary& binary, const CpuEntry& entry, const DeviceRecord& record) {
    MutexLock guard(binary.mutex);
    if (binary.unloading) return being_unloaded();
    for (const CpuBinary::Loaded& loaded : cpu_binary(binary).loaded) {
        if (loaded.device != record.index || loaded.library != library_of(cpu_binary(binary), entry)) continue;
        const auto user = loaded.users.find(entry.function);
        if (user == loaded.users.end() || user->second == entry.op_type) return loaded.module;
    }
    return std::shared_ptr<Module>();
}

// Records which op type owns the symbol's kernel. Unneeded modules are closed without the mutex.
Status take_kernel(Binary& binary, const CpuEntry& entry, const DeviceRecord& record,
                   const std::shared_ptr<Module>& module) {
    MutexLock guard(binary.mutex);
    if (binary.unloading) return being_unloaded();
    std::vector<CpuBinary::Loaded>& all = cpu_binary(binary).loaded;
    auto place = std::find_if(all.begin(), all.end(), [&](const auto& loaded) { return loaded.module == module; });
    if (place == all.end()) {
        all.push_back(CpuBinary::Loaded{library_of(cpu_binary(binary), entry), record.index, module, {}});
        place = all.end() - 1;
    }
    place->users.emplace(entry.function, entry.op_type);
    return {};
}

Result<Kernel*> resolve(Binary& binary, const CpuEntry& entry, DeviceRecord& record) {
    const std::string& library = library_of(cpu_binary(binary), entry);
    if (entry.function.empty())
        return fail(code::param_invalid, "op type {} of {} names no function (functionName)", entry.op_type,
                    binary.cpu->origin);
    MutexLock guard(binary.loading);
    Result<std::shared_ptr<Module>> module = module_with(binary, entry, record);
    if (!module.ok()) return module.status();
    if (!*module) {
        const auto not_loaded = [&](Status status) {
            return fail(status.code(), "op type {} of {} cannot be loaded", entry.op_type, binary.cpu->origin);
        };
        Result<CpuImageBytes> image = image_for(binary, entry);
        if (!image.ok()) return not_loaded(image.status());
        Result<Device*> device = record.open();
        if (!device.ok()) return device.status();
        Result<std::unique_ptr<Module>> loaded = (*device)->load_cpu(**image, library);
        if (!loaded.ok()) return not_loaded(loaded.status());
        *module = std::move(*loaded);
    }
    Kernel* kernel = (*module)->kernel(entry.function);
    if (!kernel)
        return fail(code::param_invalid, "op type {} of {}: shared object {} has no function {}", entry.op_type,
                    binary.cpu->origin, library, entry.function);
    CANOPY_TRY(take_kernel(binary, entry, record, *module));
    return kernel;
}

}  // namespace

Result<Kernel*> CpuBinary::kernel(Binary& binary, Function& function, DeviceRecord& record) {
    if (function.cpu->kind == CpuKernelKind::unknown)
        return fail(code::param_invalid,
                    "op type {} of {} cannot be launched: its opKernelLib is missing or not one of AICPUKernel, "
                    "CUSTAICPUKernel, TFKernel, KFCKernel and CUSTKFCKernel",
                    function.cpu->op_type, origin);
    Result<Kernel*> kernel = resolve(binary, *function.cpu, record);
    if (!kernel.ok()) return kernel;
    std::atomic_ref((*kernel)->user).store(opaque_of(function.self), std::memory_order_release);
    function.kernels[record.index].store(*kernel, std::memory_order_release);
    return kernel;
}

// ---- functions -----------------------------------------------------------------------------------------------------

namespace {

// The function of an op type if it was looked up before, else 0.
Handle known_function(Binary& binary, std::string_view op_type) CANOPY_REQUIRES(binary.mutex) {
    for (Handle handle : binary.functions) {
        const Pin<Function> known = Runtime::instance().functions.pin(handle);
        if (known && known->info.name == op_type) return handle;
    }
    return 0;
}

Result<Handle> find_known_function(Binary& binary, std::string_view op_type) {
    MutexLock guard(binary.mutex);
    if (binary.unloading) return being_unloaded();
    return known_function(binary, op_type);
}

Result<Handle> open_function(Binary& binary, std::shared_ptr<const CpuEntry> entry) {
    Runtime& runtime = Runtime::instance();
    MutexLock guard(binary.mutex);
    if (binary.unloading) return being_unloaded();
    if (const Handle known = known_function(binary, entry->op_type)) return known;
    const Handle handle = runtime.functions.open([&](Function& function, Handle self) {
        function.self = self;
        function.binary = binary.self;
        function.info = {};
        function.info.name = entry->op_type;
        function.info.core = CoreType::cpu;
        function.info.vector_ratio = 0;
        function.cpu = std::move(entry);
    });
    if (handle == 0) return fail(code::resource_alloc, "too many functions are alive");
    binary.functions.push_back(handle);
    return handle;
}

// Opens the function with its code loaded on the device of the current context, or fails.
Result<Handle> open_resolved(Binary& binary, std::shared_ptr<const CpuEntry> entry) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    DeviceRecord& record = *(*context)->record;
    // Names missing from the descriptor may come with the launch.
    const bool complete = !entry->function.empty() && (!entry->library.empty() || cpu_binary(binary).image);
    const bool launchable = complete && entry->kind != CpuKernelKind::unknown;
    if (complete)
        if (Result<Kernel*> kernel = resolve(binary, *entry, record); !kernel.ok()) return kernel.status();
    Result<Handle> handle = open_function(binary, std::move(entry));
    if (!handle.ok() || !launchable) return handle;
    if (Pin<Function> function = Runtime::instance().functions.pin(*handle)) {
        Result<Kernel*> kernel = kernel_for(*function, record);
        if (!kernel.ok()) return kernel.status();
    }
    return handle;
}

Status no_such_op_type(Binary& binary, std::string_view op_type) {
    const CpuBinary& cpu = cpu_binary(binary);
    if (cpu.mode == CpuMode::library)
        return fail(code::param_invalid, "no CPU kernel {} was registered for {}: call aclrtRegisterCpuFunc first",
                    op_type, cpu.origin);
    if (const auto skipped = cpu.descriptor.skipped.find(op_type); skipped != cpu.descriptor.skipped.end())
        return fail(code::param_invalid, "op type {} of {} cannot be used: {}", op_type, cpu.origin, skipped->second);
    constexpr std::size_t most = 20;  // op types listed in a message
    std::string known;
    std::size_t count = 0;
    for (const auto& [name, entry] : cpu.descriptor.entries) {
        if (entry->function == op_type)
            return fail(
                code::param_invalid,
                "{} has no op type {}: that is the function of op type {}, and functions are looked up by op type",
                cpu.origin, op_type, name);
        if (count++ < most) known += (known.empty() ? "" : ", ") + name;
    }
    if (count > most) known += fmt::format(" and {} more", count - most);
    return fail(code::param_invalid, "{} has no op type {}; it has: {}", cpu.origin, op_type,
                known.empty() ? "none" : known);
}

}  // namespace

Result<Handle> CpuBinary::function(Binary& binary, std::string_view op_type) {
    Result<Handle> known = find_known_function(binary, op_type);
    if (!known.ok()) return known;
    if (*known != 0) {
        CANOPY_TRY(require_context());
        return known;
    }
    const auto entry = descriptor.entries.find(op_type);
    if (entry == descriptor.entries.end()) return no_such_op_type(binary, op_type);
    return open_resolved(binary, entry->second);
}

namespace {

Result<Handle> register_in(Binary& binary, std::string_view symbol, std::string op_type) {
    Result<Handle> known = find_known_function(binary, op_type);
    if (!known.ok() || *known != 0) return known;
    auto entry = std::make_shared<CpuEntry>();
    entry->op_type = std::move(op_type);
    entry->function = symbol;
    entry->library = cpu_binary(binary).library;
    entry->kind = CpuKernelKind::custom;
    return open_resolved(binary, std::move(entry));
}

}  // namespace

Result<Handle> register_cpu_function(const void* opaque, std::string_view symbol, std::string_view op_type) {
    Result<Pin<Binary>> binary = find_binary(opaque);
    if (!binary.ok()) return binary.status();
    for (const std::string_view name : {symbol, op_type})
        if (name.empty() || name.size() > max_name_length)
            return fail(code::param_invalid, "a name has {} characters; it should have 1 to {}", name.size(),
                        max_name_length);
    if (!(*binary)->cpu)
        return fail(
            code::param_invalid,
            "binary {} holds kernels for AI cores: functions can be registered for binaries of CPU kernels only",
            as_address(opaque));
    if (!cpu_binary(**binary).image)
        return fail(
            code::param_invalid,
            "{} has no shared object: functions can be registered only for binaries loaded with CPU_KERNEL_MODE 1 or 2",
            (*binary)->cpu->origin);
    return register_in(**binary, symbol, std::string(op_type));
}

// ---- functions by the names in an argument block -------------------------------------------------------------------

namespace {

// Binaries of objects found by name; each lasts until the name refers to different bytes.
struct NamedBinaries {
    struct Entry {
        std::array<std::uint64_t, 5> identity{};
        Handle binary = 0;
    };
    Mutex mutex;
    std::map<std::string, Entry, std::less<>> all CANOPY_GUARDED_BY(mutex);
};
NamedBinaries& named_binaries() { return process_state<NamedBinaries>(); }

// A name that no real descriptor would use, so it cannot collide with an op type.
std::string named_op_type(std::string_view library, std::string_view symbol) {
    return fmt::format("{}@{}", symbol, library);
}

Result<Pin<Binary>> named_binary(std::string_view library) {
    HandleTable<Binary>& binaries = Runtime::instance().binaries;
    Result<CpuImageSource> source = locate_cpu_image(library);
    if (!source.ok()) return source.status();
    NamedBinaries& named = named_binaries();
    Handle replaced = 0;
    Pin<Binary> binary;
    {
        MutexLock guard(named.mutex);
        NamedBinaries::Entry& entry = named.all.try_emplace(std::string(library)).first->second;
        if (entry.binary != 0 && entry.identity == source->identity) binary = binaries.pin(entry.binary);
        if (!binary) {
            Result<CpuImageBytes> bytes = read_cpu_image(*source);
            if (!bytes.ok()) return bytes.status();
            auto cpu = std::make_shared<CpuBinary>();
            cpu->mode = CpuMode::library;
            cpu->origin = source->where;
            cpu->library = library;
            cpu->image = std::move(*bytes);
            Result<Handle> handle = open_cpu_binary(std::move(cpu));
            if (!handle.ok()) return handle.status();
            replaced = std::exchange(entry.binary, *handle);
            entry.identity = source->identity;
            binary = binaries.pin(*handle);
        }
    }
    if (replaced != 0 && binaries.alive(replaced)) unload_binary(opaque_of(replaced)).ignore();
    if (!binary) return being_unloaded();
    return binary;
}

}  // namespace

Result<Handle> named_cpu_function(std::string_view library, std::string_view symbol) {
    Result<Pin<Binary>> binary = named_binary(library);
    if (!binary.ok()) return binary.status();
    return register_in(**binary, symbol, named_op_type(library, symbol));
}

Result<Handle> named_cpu_function(const Function& beside, std::string_view library, std::string_view symbol) {
    Result<Pin<Binary>> binary = find_binary(opaque_of(beside.binary));
    if (!binary.ok()) return binary.status();
    const CpuBinary& cpu = cpu_binary(**binary);
    const std::string_view own = cpu.image ? std::string_view(cpu.library) : std::string_view(beside.cpu->library);
    const std::string_view wanted = symbol.empty() ? std::string_view(beside.cpu->function) : symbol;
    if (cpu.image && (library.empty() || library == own))
        return register_in(**binary, wanted, named_op_type(own, wanted));
    return named_cpu_function(library.empty() ? own : library, wanted);
}

const char* cpu_result_meaning(std::uint32_t result) noexcept {
    constexpr std::uint32_t wait = 101, end_of_sequence = 201, abort = 301;
    constexpr std::uint32_t first_fault = 501, last_fault = 505, first_cooperative = 1000, last_cooperative = 1099;
    if (result == wait) return "asks to wait";
    if (result == end_of_sequence) return "end of sequence";
    if (result == abort) return "abort";
    if (result >= first_fault && result <= last_fault) return "fault";
    if (result >= first_cooperative && result <= last_cooperative) return "the kernel's own code";
    return "failure";
}

}  // namespace canopy
