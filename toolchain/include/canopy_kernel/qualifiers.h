// SPDX-License-Identifier: Apache-2.0
// The words a kernel is declared with. What matters outside the function (it is a kernel, on which cores, how it is
// scheduled) becomes an annotation that canopy-cc reads; memory spaces are one space here and mean nothing yet.
#ifndef CANOPY_KERNEL_QUALIFIERS_H
#define CANOPY_KERNEL_QUALIFIERS_H

#include <stdint.h>

#define CANOPY_ANNOTATE(text) __attribute__((annotate(text)))

#define __global__ CANOPY_ANNOTATE("canopy.global")
#define __vector__ CANOPY_ANNOTATE("canopy.vector")
#define __cube__ CANOPY_ANNOTATE("canopy.cube")
#define __mix__(cube, vector) CANOPY_ANNOTATE("canopy.mix " #cube " " #vector)
#define __schedmode__(mode) CANOPY_ANNOTATE("canopy.schedule " #mode)
#define __aicpu__ CANOPY_ANNOTATE("canopy.cpu")
#define __aicore__
#define __host_aicore__
#define __launch_bounds__(...)
#define __maxnreg__(...)

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

#define GM_ADDR __gm__ uint8_t*

// The older way to choose the cores: a statement inside the kernel. canopy-cc finds the variable by its name.
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
