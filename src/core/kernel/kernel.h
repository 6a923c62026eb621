// SPDX-License-Identifier: Apache-2.0
// Kernel images, functions and argument lists as programs handle them. A binary is loaded once per device that uses
// it; a function is looked up once and launched on whichever device the stream belongs to.
//
// A launch does not pin its function: it checks the handle while it holds the stream's lock. Unloading first closes
// the handles, then passes through every stream's lock, and only then lets go of the code.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "device/backend.h"
#include "runtime/runtime/base.h"

namespace canopy {

class Binary;
class Function;
struct CpuEntry;

using BinaryExceptionFunction = void (*)(rtExceptionInfo* info, void* argument);

// The code of a binary whose kernels run on CPU cores (cpu/cpu_kernels.h).
class CpuCode {
public:
    std::string origin;  // for messages

    virtual ~CpuCode() = default;
    // By name, resolved for the device of the current context.
    virtual Result<Handle> function(Binary& binary, std::string_view name) = 0;
    virtual Result<Kernel*> kernel(Binary& binary, Function& function, DeviceRecord& record) = 0;
    // Ends what the binary alone has and returns its modules by device. The caller holds the binary's mutex.
    virtual std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> close() = 0;
};

inline constexpr std::size_t max_parameters = 128;
inline constexpr std::size_t max_name_length = 4095;

class Binary {
public:
    Handle self = 0;
    Handle context = 0;  // that loaded it
    bool lazy = false;
    std::atomic<BinaryExceptionFunction> exception_function{nullptr};
    std::atomic<void*> exception_argument{nullptr};

    // Held while code is loaded, which waits for the dynamic loader; a thread that unloads may hold the loader and so
    // never waits for it. Taken before `mutex`.
    Mutex loading;
    Mutex mutex;
    bool unloading CANOPY_GUARDED_BY(mutex) = false;  // nothing is loaded or found any more
    std::vector<std::byte> bytes;                     // empty when they belong to the program
    std::span<const std::byte> image;                 // the same, or the program's; does not change
    std::array<std::shared_ptr<Module>, max_devices> modules CANOPY_GUARDED_BY(mutex);
    std::vector<Handle> functions CANOPY_GUARDED_BY(mutex);

    std::shared_ptr<CpuCode> cpu;  // of a binary of CPU kernels; its modules are there

    // The module for a device, loaded now if it was not.
    Result<std::shared_ptr<Module>> module_for(DeviceRecord& record);
    void recycle() noexcept;
};

// A binary of aclrtCreateBinary. The bytes belong to the program.
struct BinaryData {
    const void* data = nullptr;
    std::size_t size = 0;
    void recycle() noexcept { *this = {}; }
};

class Function {
public:
    Handle self = 0;
    Handle binary = 0;
    KernelInfo info;
    std::shared_ptr<const CpuEntry> cpu;  // of a CPU kernel, whose name is its op type
    // By device; null until the first launch there. Cleared when the function ends.
    std::array<std::atomic<Kernel*>, max_devices> kernels{};

    Mutex mutex;
    std::vector<Handle> arguments CANOPY_GUARDED_BY(mutex);  // argument lists made for it
    void recycle() noexcept;
};

// One argument list: parameters in order, each in an 8-byte aligned slot (or packed), then the data of placeholders.
class Arguments {
public:
    Handle self = 0;
    Handle function = 0;

    SpinLock lock;
    struct Parameter {
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        bool placeholder = false;
        std::uint32_t data_size = 0;
        std::unique_ptr<char[]> data;  // what the program fills for a placeholder
    };
    std::vector<Parameter> parameters CANOPY_GUARDED_BY(lock);
    std::vector<char> values CANOPY_GUARDED_BY(lock);  // the slots
    std::vector<char> block CANOPY_GUARDED_BY(lock);   // slots and data as the kernel gets them
    std::vector<Placeholder> placeholders CANOPY_GUARDED_BY(lock);
    std::size_t capacity CANOPY_GUARDED_BY(lock) = SIZE_MAX;  // of memory the program provided
    std::size_t data_bytes CANOPY_GUARDED_BY(lock) = 0;
    std::size_t slot CANOPY_GUARDED_BY(lock) = 8;  // where parameters may begin; those of CPU kernels are packed
    bool finalised CANOPY_GUARDED_BY(lock) = false;
    bool ever_finalised CANOPY_GUARDED_BY(lock) = false;
    bool buffers_given CANOPY_GUARDED_BY(lock) = false;

    void recycle() noexcept;
};

struct LoadOptions {
    bool lazy = false;
};

Result<Handle> load_binary(std::vector<std::byte> image, const LoadOptions& options);
// A binary whose bytes stay where they are until it is unloaded. Nothing is loaded before it is used.
Result<Handle> open_binary(std::span<const std::byte> image);
Status unload_binary(const void* binary);
void unload_all_binaries() noexcept;
// Lets go of code on a thread that must not wait for the dynamic loader: whoever loads or unloads next closes it.
void close_later(std::vector<std::shared_ptr<Module>> modules) noexcept;

Result<Pin<Binary>> find_binary(const void* binary);
Result<Handle> get_function(const void* binary, std::string_view name);
// By the key of the kernel's note, or by its name.
Result<Handle> get_function_by_key(Handle binary, std::string_view key);
// Makes sure the function can run on that device. Never with a stream's lock held.
Result<Kernel*> kernel_for(Function& function, DeviceRecord& record);

// The function's kernel on a device, or nullptr when the function is not alive or was not used there yet. The caller
// holds a stream's lock: what is found stays loaded until the lock is left.
inline const Kernel* loaded_kernel(Handle handle, const DeviceRecord& record) noexcept {
    const HandleTable<Function>& functions = Runtime::instance().functions;
    const Function* function = functions.peek(handle);
    // Read before the handle is checked: the slot may be given to another function at any time.
    const Kernel* kernel = function ? function->kernels[record.index].load(std::memory_order_acquire) : nullptr;
    return functions.alive(handle) ? kernel : nullptr;
}

// Argument lists. `opaque` is a handle, or the memory a program gave to initialise one in.
Result<Handle> create_arguments(Pin<Function>& function);
Status create_arguments_in(Pin<Function>& function, void* memory, std::size_t capacity);
Result<Pin<Arguments>> find_arguments(const void* opaque);
Result<std::uint32_t> append_parameter(Arguments& arguments, const void* value, std::size_t size);
Result<std::uint32_t> append_placeholder(Arguments& arguments);
Status update_parameter(Arguments& arguments, std::uint32_t index, const void* value, std::size_t size);
Result<void*> placeholder_buffer(Arguments& arguments, std::uint32_t index, std::size_t size);
Status finalise_arguments(Arguments& arguments);
inline constexpr std::size_t arguments_handle_size = 64;

// Parameters as programs hold them: which list, which position.
void* parameter_handle(const Arguments& arguments, std::uint32_t index) noexcept;
Result<std::uint32_t> parameter_index(const Arguments& arguments, const void* parameter);

}  // namespace canopy
