/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core counts of the current device, or of the first one if the thread has not set a device.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_CONFIG_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_CONFIG_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: numbers of cores
 * ------------------------------------------------------------------------------------------------------------ */

/** Returns the number of AI cores. */
RTS_API rtError_t rtGetAiCoreCount(uint32_t* aiCoreCnt);

/** Returns the number of CPU cores that kernels may run on. */
RTS_API rtError_t rtGetAiCpuCount(uint32_t* aiCpuCnt);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_CONFIG_H */
