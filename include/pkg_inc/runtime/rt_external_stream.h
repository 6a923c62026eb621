/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags of streams. Their bits are not those of acl/acl_rt.h: a persistent stream is 1 here and 4 there.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_STREAM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_STREAM_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_STREAM_DEFAULT 0x00U
#define RT_STREAM_PERSISTENT 0x01U /**< its tasks run as part of a graph only */
#define RT_STREAM_FORCE_COPY 0x02U
#define RT_STREAM_HUGE 0x04U
#define RT_STREAM_AICPU 0x08U
#define RT_STREAM_CPU_SCHEDULE 0x08U /**< another name of the bit before */
#define RT_STREAM_FORBIDDEN_DEFAULT 0x10U
#define RT_STREAM_HEAD 0x20U
#define RT_STREAM_PRIMARY_DEFAULT 0x40U
#define RT_STREAM_PRIMARY_FIRST_DEFAULT 0x80U
#define RT_STREAM_OVERFLOW 0x100U
#define RT_STREAM_VECTOR_CORE_USE 0x1000U
#define RT_STREAM_ACSQ_LOCK 0x2000U
#define RT_STREAM_DQS_CTRL 0x4000U
#define RT_STREAM_DQS_INTER_CHIP 0x8000U

/** The priority of a stream that does not request one: the highest. */
#define RT_STREAM_PRIORITY_DEFAULT 0U

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_STREAM_H */
