/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs may do to a kernel binary on its way to a device.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fills the `cfgLen` bytes at `cfgAddr`, which become a variable of a binary; 0 when it did. */
typedef int32_t (*rtKernelLaunchFillFunc)(void* cfgAddr, uint32_t cfgLen);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_PRELOAD_H */
