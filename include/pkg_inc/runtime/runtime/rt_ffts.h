/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory through which the cores of a mixed kernel synchronise.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_FFTS_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_FFTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: meeting of cores
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Returns the address of the words in which cube and vector cores of mixed kernels meet, and how many bytes they are;
 * such kernels take the address as their first argument. It belongs to the current context.
 */
RTS_API rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_FFTS_H */
