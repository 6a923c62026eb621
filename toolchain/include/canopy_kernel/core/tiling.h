// SPDX-License-Identifier: Apache-2.0
// Tiling data and workspace on the device side. Tiling data is a plain structure that the host wrote into global
// memory; the macros name its type and copy it.
#ifndef CANOPY_KERNEL_TILING_H
#define CANOPY_KERNEL_TILING_H

#include "canopy_kernel/core/core.h"

// The structure that GET_TILING_DATA copies if no type is named. A source may register one default, and other
// structures for certain keys; a copy without a type always uses the default.
#define REGISTER_TILING_DEFAULT(type) using canopy_default_tiling = type
#define REGISTER_TILING_FOR_TILINGKEY(expression, type) static_assert(true, "")

#define GET_TILING_DATA(name, tiling) GET_TILING_DATA_WITH_STRUCT(canopy_default_tiling, name, tiling)

#define GET_TILING_DATA_WITH_STRUCT(type, name, tiling) \
    type name;                                          \
    __builtin_memcpy(static_cast<void*>(&name), (const void*)(tiling), sizeof(type))

#define GET_TILING_DATA_MEMBER(type, member, name, tiling)                                                         \
    decltype(type::member) name;                                                                                   \
    __builtin_memcpy(static_cast<void*>(&name), (const unsigned char*)(tiling) + __builtin_offsetof(type, member), \
                     sizeof(name))

#define COPY_TILING_WITH_STRUCT(type, source, destination) \
    __builtin_memcpy(static_cast<void*>(destination), (const void*)(source), sizeof(type))

// The key a kernel is compiled for: -DTILING_KEY_VAR=N, or the one set at run time. In CPU debug builds the program
// sets it, in a variable of libtikicpulib.so.
#ifndef TILING_KEY_VAR
#ifdef ASCENDC_CPU_DEBUG
extern "C" __attribute__((weak)) uint64_t canopy_cpu_tiling_key;
#define TILING_KEY_VAR (&canopy_cpu_tiling_key == nullptr ? 0 : canopy_cpu_tiling_key)
#else
#define TILING_KEY_VAR (canopy::kernel::core_state().tiling_key)
#endif
#endif
#define TILING_KEY_IS(key) ((key) == TILING_KEY_VAR)

namespace canopy::kernel {

// The first part of a workspace is used by the kernel language itself.
inline constexpr uint64_t system_workspace = (coupled ? 2ull : 16ull) * 1024 * 1024;

}  // namespace canopy::kernel

namespace AscendC {

inline void SetSysWorkspace(GM_ADDR workspace) { canopy::kernel::core_state().workspace = workspace; }
inline void SetSysWorkspaceForce(GM_ADDR workspace) { SetSysWorkspace(workspace); }
inline GM_ADDR GetSysWorkSpacePtr() { return canopy::kernel::core_state().workspace; }
// With HAVE_WORKSPACE the parameter is already the user's part; then the whole workspace is set, and is used instead.
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
    GM_ADDR whole = GetSysWorkSpacePtr();
    return (whole != nullptr ? whole : workspace) + canopy::kernel::system_workspace;
}

}  // namespace AscendC

using AscendC::GetSysWorkSpacePtr;
using AscendC::GetUserWorkspace;
using AscendC::SetSysWorkspace;

#endif
