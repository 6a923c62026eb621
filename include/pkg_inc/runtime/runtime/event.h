/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags and states of events.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_EVENT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_EVENT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an event is for. */
#define RT_EVENT_DDSYNC_NS 0x01U
#define RT_EVENT_STREAM_MARK 0x02U
#define RT_EVENT_DDSYNC 0x04U
#define RT_EVENT_TIME_LINE 0x08U
#define RT_EVENT_MC2 0x10U
#define RT_EVENT_EXTERNAL 0x20U
#define RT_EVENT_IPC 0x40U
#define RT_EVENT_DEFAULT 0x0EU /**< waiting, times and marks */

/** An event that was made with flags. */
#define RT_EVENT_WITH_FLAG 0x01U

/** Whether an event was recorded. */
typedef enum rtEventStatus { RT_EVENT_INIT = 0, RT_EVENT_RECORDED = 1 } rtEventStatus_t;

/** What a number names. */
typedef enum rtIdType { RT_STREAM_ID = 0, RT_EVENT_ID = 1, RT_MODEL_ID = 2 } rtIdType_t;

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_EVENT_H */
