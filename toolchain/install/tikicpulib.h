// SPDX-License-Identifier: Apache-2.0
// The cpu form of a program: kernels called like functions, on memory that host code reads and writes as its own. Host
// code includes this header, links tikicpulib::<product> and then does without streams, devices and copies:
//
//   float* x = (float*)AscendC::GmAlloc(bytes);
//   ICPU_RUN_KF(add_custom, 8, (GM_ADDR)x, (GM_ADDR)y, (GM_ADDR)z);   // 8 blocks; comes back when they are done
//   AscendC::GmFree(x);
//
// The kernel is the one that a launch would start, on the same device, in the same process. Errors are printed
// to stderr and ends the program with status 1. Compiles with any compiler; kernels need canopy-cc, which
// tikicpulib-config.cmake sees to. Every function may be called from any thread.
#ifndef CANOPY_TIKICPULIB_H
#define CANOPY_TIKICPULIB_H

#include <canopy/launch.h>
#include <stddef.h>
#include <stdint.h>

// Headers that host code in cpu mode uses without including them.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#ifdef __CANOPY_CC__
#include "kernel_operator.h"
#else
#include "canopy_kernel/target/qualifiers.h"
#endif

extern "C" {
void* canopyCpuAllocate(size_t size);
void canopyCpuFree(void* memory);
void canopyCpuBegin(CanopyPendingLaunch* launch, int64_t blocks);
void canopyCpuEnd(CanopyPendingLaunch* launch, const char* kernel);
void canopyCpuSetTilingKey(uint64_t key);
}

namespace AscendC {

// The core type of a kernel. No effect: the kernel declares it, as for a launch.
enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };
inline void SetKernelMode(KernelMode) {}

// Global memory, filled with zeros.
inline void* GmAlloc(size_t size) { return canopyCpuAllocate(size); }
inline void GmFree(void* memory) { canopyCpuFree(memory); }

}  // namespace AscendC

using AscendC::KernelMode;
// The older name of the namespace.
namespace tik2 = AscendC;

#define ICPU_RUN_KF(kernel, blocks, ...)                              \
    do {                                                              \
        CanopyPendingLaunch canopy_launch = {};                       \
        canopyCpuBegin(&canopy_launch, static_cast<int64_t>(blocks)); \
        kernel(__VA_ARGS__);                                          \
        canopyCpuEnd(&canopy_launch, #kernel);                        \
    } while (0)

// Sets the key that TILING_KEY_IS tests in later kernels.
#define ICPU_SET_TILING_KEY(key) canopyCpuSetTilingKey(static_cast<uint64_t>(key))

#endif
