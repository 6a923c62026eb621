// SPDX-License-Identifier: Apache-2.0
#include "core/process/builtin_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "base/error_text.h"
#include "base/process_state.h"
#include "builtin/image.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Description {
    std::string_view name, purpose;
    int fault_code;
};
// By Builtin. A copy and a random-number task read addresses and sizes from memory: what they find there is an
// argument.
constexpr std::array<Description, 4> descriptions = {{
    {},
    {"canopy_reduce", "a reduction", code::driver_internal},
    {"canopy_random", "a random-number task", code::param_invalid},
    {"canopy_copy_behind_slots", "a copy with offsets", code::param_invalid},
}};

const Description& describe(Builtin kernel) noexcept { return descriptions[static_cast<std::size_t>(kernel)]; }

struct LoadedImage {
    Mutex mutex;  // held while the image is loaded
    std::unique_ptr<Module> module CANOPY_GUARDED_BY(mutex);
    std::array<std::atomic<const Kernel*>, descriptions.size()> kernels{};
};

struct LoadedImages {
    std::array<LoadedImage, max_devices> by_device;
};

Status load(LoadedImage& loaded, DeviceRecord& record) {
    MutexLock guard(loaded.mutex);
    if (loaded.module) return {};
    if (builtin_image().empty())
        return fail(code::not_supported,
                    "this library was built without canopy-cc, and lacks the kernel for this call");
    Result<Device*> device = record.open();
    if (!device.ok()) return device.status();
    Result<std::unique_ptr<Module>> module = (*device)->load(builtin_image());
    if (!module.ok()) return module.status();
    std::array<Kernel*, descriptions.size()> found{};
    for (std::size_t number = 1; number < descriptions.size(); ++number) {
        found[number] = (*module)->kernel(descriptions[number].name);
        if (!found[number])
            return fail(code::runtime_internal, "the library's own image has no kernel {}", descriptions[number].name);
        found[number]->built_in = static_cast<std::uint8_t>(number);
    }
    loaded.module = std::move(*module);
    for (std::size_t number = 1; number < descriptions.size(); ++number)
        loaded.kernels[number].store(found[number], std::memory_order_release);
    return {};
}

}  // namespace

Result<Command> builtin_command(Builtin which, DeviceRecord& record, const void* arguments, std::uint32_t size,
                                std::uint64_t wanted) {
    LoadedImage& loaded = process_state<LoadedImages>().by_device[record.index];
    const std::atomic<const Kernel*>& kernel = loaded.kernels[static_cast<std::size_t>(which)];
    if (!kernel.load(std::memory_order_acquire)) [[unlikely]]
        CANOPY_TRY(load(loaded, record));
    const std::uint64_t resident = std::max(record.chip->vector_cores, 1u);
    Command command(Opcode::launch);
    command.launch = {};
    command.launch.kernel = kernel.load(std::memory_order_acquire);
    command.launch.set_arguments(arguments);
    command.launch.arguments_size = size;
    command.launch.blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, resident));
    command.launch.batch = command.launch.blocks > 1;  // they wait for each other
    command.launch.timeout = UINT64_MAX;               // limits are for kernels of programs
    return command;
}

std::string_view purpose_of(Builtin kernel) noexcept { return describe(kernel).purpose; }

int fault_code_of(Builtin kernel) noexcept { return describe(kernel).fault_code; }

}  // namespace canopy
