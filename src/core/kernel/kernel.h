// SPDX-License-Identifier: Apache-2.0
// Kernel binaries, functions and argument lists behind their public handles. A binary is loaded once per device that
// uses it; a function is looked up once and can be launched on the device of any stream.
//
// A launch does not pin its function: it checks the handle while holding the stream's lock. Unloading first closes the
// handles, then takes and releases every stream's lock, and only then drops the code.
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

#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "device/device.h"
#include "foundation/mutex.h"
#include "runtime/runtime/base.h"

namespace canopy {

class Binary;
class Function;
struct CpuEntry;

using BinaryExceptionFunction = void (*)(rtExceptionInfo* info, void* argument);

// The code of a binary whose kernels run on CPU cores (cpu/cpu_kernels.h).
class CpuCode {
public:
    std::string origin;  // for error messages

    virtual ~CpuCode() = default;
    // Looks a function up by name and resolves it for the device of the current context.
    virtual Result<Handle> function(Binary& binary, std::string_view name) = 0;
    virtual Result<Kernel*> kernel(Binary& binary, Function& function, DeviceRecord& record) = 0;
    // Releases the binary's own resources and returns its modules by device. The caller holds the binary's mutex.
    virtual std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> close() = 0;
};

inline constexpr std::size_t max_parameters = 128;
inline constexpr std::size_t max_name_length = 4095;

class Binary {
public:
    Handle self = 0;
    Handle context = 0;  // the context that loaded it
    bool lazy = false;
    std::atomic<BinaryExceptionFunction> exception_function{nullptr};
    std::atomic<void*> exception_argument{nullptr};

    // Held while code is loaded, which waits for the dynamic loader. Never taken when unloading: that thread may
    // already hold the loader's lock. Taken before `mutex`.
    Mutex loading;
    Mutex mutex;
    bool unloading CANOPY_GUARDED_BY(mutex) = false;  // no more loads or lookups
    std::vector<std::byte> bytes;                     // empty if the program owns them
    std::span<const std::byte> image;                 // `bytes` or the program's memory; never changes
    std::array<std::shared_ptr<Module>, max_devices> modules CANOPY_GUARDED_BY(mutex);
    std::vector<Handle> functions CANOPY_GUARDED_BY(mutex);

    std::shared_ptr<CpuCode> cpu;  // set for a binary of CPU kernels; holds its modules

    // The module for a device; loads it on first use.
    Result<std::shared_ptr<Module>> module_for(DeviceRecord& record);
    void recycle() noexcept;
};

// A binary made by aclrtCreateBinary. The program owns the bytes.
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
    std::shared_ptr<const CpuEntry> cpu;  // set for a CPU kernel, whose name is its op type
    // By device; null until the first launch there. Cleared when the function is closed.
    std::array<std::atomic<Kernel*>, max_devices> kernels{};

    Mutex mutex;
    std::vector<Handle> arguments CANOPY_GUARDED_BY(mutex);  // argument lists made for it
    void recycle() noexcept;
};

// One argument list: the parameters in order, each in an 8-byte aligned slot (or packed), then the placeholder data.
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
        std::unique_ptr<char[]> data;  // filled by the program; placeholders only
    };
    std::vector<Parameter> parameters CANOPY_GUARDED_BY(lock);
    std::vector<char> values CANOPY_GUARDED_BY(lock);  // the slots
    std::vector<char> block CANOPY_GUARDED_BY(lock);   // slots and data as passed to the kernel
    std::vector<Placeholder> placeholders CANOPY_GUARDED_BY(lock);
    std::size_t capacity CANOPY_GUARDED_BY(lock) = SIZE_MAX;  // of the memory supplied by the program
    std::size_t data_bytes CANOPY_GUARDED_BY(lock) = 0;
    std::size_t slot CANOPY_GUARDED_BY(lock) = 8;  // parameter alignment; CPU kernel parameters are packed
    bool finalised CANOPY_GUARDED_BY(lock) = false;
    bool ever_finalised CANOPY_GUARDED_BY(lock) = false;
    bool buffers_given CANOPY_GUARDED_BY(lock) = false;

    void recycle() noexcept;
};

struct LoadOptions {
    bool lazy = false;
};

Result<Handle> load_binary(std::vector<std::byte> image, const LoadOptions& options);
// A binary whose bytes stay in place until it is unloaded. Nothing is loaded until first use.
Result<Handle> open_binary(std::span<const std::byte> image);
Status unload_binary(const void* binary);
void unload_all_binaries() noexcept;
// Drops code on a thread that must not wait for the dynamic loader: the next module_for load or unload closes it.
void close_later(std::vector<std::shared_ptr<Module>> modules) noexcept;

Result<Pin<Binary>> find_binary(const void* binary);
Result<Handle> get_function(const void* binary, std::string_view name);
// By the key in the kernel's note, or by its name.
Result<Handle> get_function_by_key(Handle binary, std::string_view key);
// Makes sure the function can run on that device. Never call it with a stream's lock held.
Result<Kernel*> kernel_for(Function& function, DeviceRecord& record);

// The function's kernel on a device, or nullptr if the function is closed or has not been used there yet. The caller
// holds a stream's lock: the kernel stays loaded until the lock is released.
inline const Kernel* loaded_kernel(Handle handle, const DeviceRecord& record) noexcept {
    const HandleTable<Function>& functions = Runtime::instance().functions;
    const Function* function = functions.peek(handle);
    // Read before the handle is checked: the slot may be reused for another function at any time.
    const Kernel* kernel = function ? function->kernels[record.index].load(std::memory_order_acquire) : nullptr;
    return functions.alive(handle) ? kernel : nullptr;
}

// Argument lists. `opaque` is a handle, or the program's memory that a list was initialised in.
Result<Handle> create_arguments(Pin<Function>& function);
Status create_arguments_in(Pin<Function>& function, void* memory, std::size_t capacity);
Result<Pin<Arguments>> find_arguments(const void* opaque);
Result<std::uint32_t> append_parameter(Arguments& arguments, const void* value, std::size_t size);
Result<std::uint32_t> append_placeholder(Arguments& arguments);
Status update_parameter(Arguments& arguments, std::uint32_t index, const void* value, std::size_t size);
Result<void*> placeholder_buffer(Arguments& arguments, std::uint32_t index, std::size_t size);
Status finalise_arguments(Arguments& arguments);
inline constexpr std::size_t arguments_handle_size = 64;

// Parameter handles encode the list and the position in it.
void* parameter_handle(const Arguments& arguments, std::uint32_t index) noexcept;
Result<std::uint32_t> parameter_index(const Arguments& arguments, const void* parameter);

}  // namespace canopy
