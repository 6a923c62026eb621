/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags of streams of a graph.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_MODEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_MODEL_H

#include "../base.h"
#include "../rt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_MODEL_STREAM_FLAG_HEAD 0x00U          /**< begins with the graph */
#define RT_MODEL_STREAM_FLAG_DEFAULT 0x7FFFFFFFU /**< waits to be started */

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_MODEL_H */
