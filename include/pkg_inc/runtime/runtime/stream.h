/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the lower interface: the handles of acl/acl_rt.h, and flags with different bits.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_STREAM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_STREAM_H

#include "../rt_external_stream.h"
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** More flags of streams. */
#define RT_STREAM_FAST_LAUNCH 0x200U
#define RT_STREAM_FAST_SYNC 0x400U
#define RT_STREAM_CP_PROCESS_USE 0x800U

/** The two steps of emptying a stream. */
typedef enum tagRtClearStep { RT_STREAM_STOP = 0, RT_STREAM_CLEAR = 1 } rtClearStep_t;

/** Whether a stream is captured. */
typedef enum tagRtStreamCaptureStatus {
    RT_STREAM_CAPTURE_STATUS_NONE = 0,
    RT_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    RT_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    RT_STREAM_CAPTURE_STATUS_MAX = 3
} rtStreamCaptureStatus;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: streams
 * ------------------------------------------------------------------------------------------------------------ */

/** Makes a stream in the current context; priorities are 0, the most urgent, to 7. */
RTS_API rtError_t rtStreamCreate(rtStream_t* stm, int32_t priority);

/** Waits for a stream's work and ends the stream. A null handle gives 107000. */
RTS_API rtError_t rtStreamDestroy(rtStream_t stm);

/** Waits for all work of a stream and tells the first failure since the last time. */
RTS_API rtError_t rtStreamSynchronize(rtStream_t stm);

/** Returns 0 when a stream has nothing left to do, and 507004 while it has. */
RTS_API rtError_t rtStreamQuery(rtStream_t stm);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_STREAM_H */
