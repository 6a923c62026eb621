/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control over fused kernels, beyond the AscendCL interface: temporary memory, background compilation, and a report. A
 * fused kernel is a function of an image made by canopy-cc --fuse, or a graph after aclskOptimize. Safe to call from
 * any thread. Errors are aclError values with a message (aclGetRecentErrMsg).
 */
#ifndef CANOPY_FUSION_H
#define CANOPY_FUSION_H

#include <stddef.h>
#include <stdint.h>

#include "canopy/fusion_profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares that these bytes are not read after the fused kernels that write them: compiled loops then keep the values
 * in registers and omit the stores. Applies to later launches and calls of aclskOptimize. */
int canopyFusionDeclareTemporary(const void* address, size_t size);

/** Revokes a declaration, given its `address`, for later launches. Optimised graphs do not change. */
int canopyFusionUndeclareTemporary(const void* address);

/** Waits until background compilation of a function (aclrtFuncHandle) or a graph (aclmdlRI) is complete; of all of them
 * if `object` is null. `timeout`: milliseconds, -1 for ever. */
int canopyFusionWait(const void* object, int32_t timeout);

/** Returns a JSON report about a function or a graph: its steps, and for each kind of arguments the level reached (in
 * order, declared, steps, chains, loops), barriers before and after, parts and their dependencies, time spent tracing
 * and compiling, whether the code came from the cache, and reasons for refusals. The report stays valid until the next
 * call from the same thread. */
int canopyFusionReport(const void* object, const char** text);

/** Records step times (canopy/fusion_profile.h) of a fused launch of a graph into `buffer`, from the next execution on.
 * `fused` is the index of the launch in canopyFusionReport. The task number in the header is 0. A null buffer stops
 * recording. */
int canopyFusionProfile(void* graph, uint32_t fused, void* buffer);

#ifdef __cplusplus
}
#endif

#endif
