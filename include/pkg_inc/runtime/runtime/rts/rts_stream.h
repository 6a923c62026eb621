/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes and states of streams.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_STREAM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_STREAM_H

#include "../base.h"
#include "../stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a stream ends; the spelling is the interface's. */
#define RT_STREAM_DESTORY_FLAG_DEFAULT 0x0U
#define RT_STREAM_DESTORY_FLAG_FORCE 0x1U

/** What happens after a failed task. */
#define RT_STREAM_FAILURE_MODE_CONTINUE_ON_FAILURE 0x0U
#define RT_STREAM_FAILURE_MODE_STOP_ON_FAILURE 0x1U

/** An attribute of a stream; the numbers of aclrtStreamAttr. */
typedef enum rtStreamAttr {
    RT_STREAM_ATTR_FAILURE_MODE = 1,
    RT_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    RT_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    RT_STREAM_ATTR_CACHE_OP_INFO = 4,
    RT_STREAM_ATTR_PRIORITY = 5,
    RT_STREAM_ATTR_MAX = 6
} rtStreamAttr;

/** An attribute of a stream that is being made. */
typedef enum rtStreamCreateAttrId {
    RT_STREAM_CREATE_ATTR_FLAGS = 1,
    RT_STREAM_CREATE_ATTR_PRIORITY = 2,
    RT_STREAM_CREATE_ATTR_MAX = 3
} rtStreamCreateAttrId;

/** States of streams that callbacks are told about. */
typedef enum rtStreamState { RT_STREAM_STATE_CREATE_POST = 1, RT_STREAM_STATE_DESTROY_PRE = 2 } rtStreamState;

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_STREAM_H */
