/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of devices that callbacks are told about.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_DEVICE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_DEVICE_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Before and after a device is set and reset. */
typedef enum rtDeviceState {
    RT_DEVICE_STATE_SET_PRE = 0,
    RT_DEVICE_STATE_SET_POST = 1,
    RT_DEVICE_STATE_RESET_PRE = 2,
    RT_DEVICE_STATE_RESET_POST = 3
} rtDeviceState;

/** Before and after the tasks of a device are ended. */
typedef enum rtDeviceTaskAbortStage {
    RT_DEVICE_TASK_ABORT_PRE = 0,
    RT_DEVICE_TASK_ABORT_POST = 1
} rtDeviceTaskAbortStage;

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_DEVICE_H */
