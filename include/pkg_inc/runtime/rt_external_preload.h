/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks into the loading of a kernel binary on a device.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fills the `cfgLen` bytes at `cfgAddr`, which become a variable of a binary; returns 0 on success. */
typedef int32_t (*rtKernelLaunchFillFunc)(void* cfgAddr, uint32_t cfgLen);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H */
