// SPDX-License-Identifier: Apache-2.0
// The keywords of kernel declarations. canopy-cc reads them in the preprocessed source and removes them, so there they
// expand to themselves; for any other compiler they expand to nothing. All memory spaces are the same here.
#ifndef CANOPY_KERNEL_QUALIFIERS_H
#define CANOPY_KERNEL_QUALIFIERS_H

#include <stdint.h>

#ifdef __CANOPY_CC__

#define __global__ __global__
#define __vector__ __vector__
#define __cube__ __cube__
#define __mix__(cube, vector) __mix__(cube, vector)
#define __schedmode__(mode) __schedmode__(mode)
#define __aicpu__ __aicpu__
#define __aicore__ __aicore__
#define __host_aicore__ __host_aicore__
#define __launch_bounds__(...) __launch_bounds__(__VA_ARGS__)
#define __maxnreg__(...) __maxnreg__(__VA_ARGS__)
#define __simd_vf__ __simd_vf__
#define __simt_vf__ __simt_vf__
#define __simd_callee__ __simd_callee__
#define __simt_callee__ __simt_callee__

#define __gm__ __gm__
#define __ubuf__ __ubuf__
#define __cbuf__ __cbuf__
#define __ca__ __ca__
#define __cb__ __cb__
#define __cc__ __cc__
#define __biasbuf__ __biasbuf__
#define __fbuf__ __fbuf__
#define __ssbuf__ __ssbuf__
#define __local_mem__ __local_mem__

#else

#define __global__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#define __schedmode__(mode)
#define __aicpu__
#define __aicore__
#define __host_aicore__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __simd_vf__
#define __simt_vf__
#define __simd_callee__
#define __simt_callee__

#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __biasbuf__
#define __fbuf__
#define __ssbuf__
#define __local_mem__

#endif

// Keywords without effect here: functions without another keyword are for the host, workspaces are plain memory, and
// vector functions are ordinary functions.
#define __host__
#define __kfc_workspace__
#define __no_simd_vf_fusion__

// A block of vector code inside a function. For a checker it is a call of a register function.
#define __VEC_SCOPE__                                                           \
    if (const ::canopy::kernel::registers::RegisterScope canopy_scope; false) { \
    } else

// A variable with one copy for each core: each block has one, with its initial value. The memory of a thread_local
// variable comes from the block in device code (toolchain/driver/source/rewrite.cpp).
#define __BLOCK_LOCAL__ thread_local
#define __WORKGROUP_LOCAL__ thread_local

#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#define GM_ADDR __gm__ uint8_t*

// The older way to choose the cores: a statement inside the kernel. canopy-cc finds the variable by name.
enum CanopyKernelType : int {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE
};

#define KERNEL_TASK_TYPE_DEFAULT(type) [[maybe_unused]] constexpr int canopy_kernel_type = (type)
#define KERNEL_TASK_TYPE(key, type) static_assert(true, "")

#endif
