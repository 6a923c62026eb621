/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags of devices.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_DEVICE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_DEVICE_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flags for setting a device. */
#define RT_DEVICE_FLAG_DEFAULT 0x0U
#define RT_DEVICE_FLAG_NOT_START_CPU_SCHED 0x1U /**< nothing will run on its CPU cores */

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_DEVICE_H */
