/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Canopy knows of fused kernels, beyond the interface: memory whose contents are of no interest afterwards, the
 * state of the background work, and a report. A fused kernel is a function of an image that canopy-cc --fuse made, or a
 * graph after aclskOptimize. Safe from any thread. Failures are aclError values, explained by aclGetRecentErrMsg.
 */
#ifndef CANOPY_FUSION_H
#define CANOPY_FUSION_H

#include <stddef.h>
#include <stdint.h>

#include "canopy/fusion_profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares that nobody reads these bytes after the fused kernels that write them: compiled loops then keep what they
 * hand on in registers and leave the stores out. It counts for launches and calls of aclskOptimize that follow. */
int canopyFusionDeclareTemporary(const void* address, size_t size);

/** Takes a declaration back, for launches that follow; `address` is what it was made with. Graphs keep what they were
 * optimised with. */
int canopyFusionUndeclareTemporary(const void* address);

/** Waits until the background has done all it can for a function (aclrtFuncHandle) or a graph (aclmdlRI); for all of
 * them when `object` is null. `timeout`: milliseconds, -1 for ever. */
int canopyFusionWait(const void* object, int32_t timeout);

/** Gives a JSON text about a function or a graph: steps, and for each kind of arguments the level that is reached (in
 * order, declared, steps, chains, loops), barriers before and after, parts and what they wait for, the time of tracing
 * and compiling, whether the code came from the cache, and why something was refused. The text stays valid until the
 * thread asks again. */
int canopyFusionReport(const void* object, const char** text);

/** Writes the times of steps (canopy/fusion_profile.h) for a fused launch of a graph, from the next execution on.
 * `fused` counts its fused launches as canopyFusionReport lists them; their number in the header is 0. A null buffer
 * ends it. */
int canopyFusionProfile(void* graph, uint32_t fused, void* buffer);

#ifdef __cplusplus
}
#endif

#endif
