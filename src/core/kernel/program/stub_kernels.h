// SPDX-License-Identifier: Apache-2.0
// Kernel binaries that programs register themselves, and stubs: addresses in the program that identify a kernel in
// launches. Registering needs neither an initialised runtime nor a device; code is loaded at launch, and again after
// aclFinalize.
//
// All functions from any thread. A launch holds a shared lock for one lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// Copies the bytes. 107000 if they are not a kernel image. The handle is an ordinary binary handle.
Result<Handle> register_binary(std::span<const std::byte> bytes);
// The same for a shared object for CPU cores; its functions are the kernels.
Result<Handle> register_cpu_binary(std::span<const std::byte> bytes);
// Removes all its stubs too. A binary that was not registered here is unloaded.
Status unregister_binary(const void* binary);

// 107000: the binary has no such kernel; 107017: there is no such binary; 507028: the stub or its name is taken.
Status register_stub(const void* binary, const void* stub, std::string_view name, std::string_view kernel);
// 507027 if there is none.
Result<const void*> stub_of_name(std::string_view name);

// The function of a stub, or of a kernel embedded in the program by its host function, loaded on the device of the
// current context if it was not resolved before. 507027 if the address is neither.
Result<Handle> function_of_stub(const void* stub);
// The function of a registered binary whose name ends in _<key>. 107000 if there is none.
Result<Handle> function_of_key(const void* binary, std::uint64_t key);

}  // namespace canopy
