// SPDX-License-Identifier: Apache-2.0
// Kernel binaries that programs register themselves, and the stubs that stand for their kernels: addresses of the
// program by which launches name a kernel. Registering needs neither an initialised runtime nor a device; code is
// loaded when it is launched, and again after aclFinalize.
//
// All functions from any thread. A launch takes a shared lock for the time of one look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// Copies the bytes. 107000 when they are no image of kernels. The handle is that of a binary like any other.
Result<Handle> register_binary(std::span<const std::byte> bytes);
// The same for a shared object with kernels for CPU cores, whose kernels are its functions.
Result<Handle> register_cpu_binary(std::span<const std::byte> bytes);
// With all its stubs. A binary that was loaded in another way is unloaded.
Status unregister_binary(const void* binary);

// 107000: the binary has no such kernel; 107017: there is no such binary; 507028: the stub or its name is taken.
Status register_stub(const void* binary, const void* stub, std::string_view name, std::string_view kernel);
// 507027 when there is none.
Result<const void*> stub_of_name(std::string_view name);

// The function behind a stub, or behind the host function of a kernel that came with the program, loaded on the device
// of the current context. 507027 when the address is neither.
Result<Handle> function_of_stub(const void* stub);
// The function of a registered binary whose name ends in _<key>. 107000 when there is none.
Result<Handle> function_of_key(const void* binary, std::uint64_t key);

}  // namespace canopy
