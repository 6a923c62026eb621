/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags of events with the numbers of acl/acl_rt.h.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_EVENT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_EVENT_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_EVENT_FLAG_DEFAULT 0x00U
#define RT_EVENT_FLAG_SYNC 0x01U
#define RT_EVENT_FLAG_TRACE_STREAM 0x02U
#define RT_EVENT_FLAG_TIME_LINE 0x08U
#define RT_EVENT_FLAG_EXTERNAL 0x20U

/** Whether the work before an event's last record is done. */
typedef enum rtEventRecordStatus { RT_EVENT_STATUS_NOT_RECORDED = 0, RT_EVENT_STATUS_RECORDED = 1 } rtEventRecordStatus;

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_EVENT_H */
