/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, as far as the lower interface has functions for them.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MODEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MODEL_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which way a queue of a graph goes. */
typedef enum tagModelQueueFlag { RT_MODEL_INPUT_QUEUE = 0, RT_MODEL_OUTPUT_QUEUE = 1 } rtModelQueueFlag_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: graphs
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Makes a stream part of the capture that `captureMdl` is being recorded by: what is queued on it from now on becomes
 * part of that graph. A graph that is not being captured gives 107029.
 */
RTS_API rtError_t rtStreamAddToModel(rtStream_t stm, rtModel_t captureMdl);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MODEL_H */
