/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory types that several headers share.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_BASE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_BASE_H

#include "../rt_external_mem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The direction of copies of the newer functions; the numbers of aclrtMemcpyKind, not of rtMemcpyKind_t. */
typedef enum rtMemcpyKind {
    RT_MEMCPY_KIND_HOST_TO_HOST = 0,
    RT_MEMCPY_KIND_HOST_TO_DEVICE = 1,
    RT_MEMCPY_KIND_DEVICE_TO_HOST = 2,
    RT_MEMCPY_KIND_DEVICE_TO_DEVICE = 3,
    RT_MEMCPY_KIND_DEFAULT = 4,
    RT_MEMCPY_KIND_HOST_TO_BUF_TO_DEVICE = 5,
    RT_MEMCPY_KIND_INNER_DEVICE_TO_DEVICE = 6,
    RT_MEMCPY_KIND_INTER_DEVICE_TO_DEVICE = 7,
    RT_MEMCPY_KIND_MAX = 8
} rtMemcpyKind;

/** Where memory is. */
typedef enum rtMemLocationType {
    RT_MEMORY_LOC_HOST = 0,
    RT_MEMORY_LOC_DEVICE = 1,
    RT_MEMORY_LOC_UNREGISTERED = 2,
    RT_MEMORY_LOC_MANAGED = 3,
    RT_MEMORY_LOC_HOST_NUMA = 4,
    RT_MEMORY_LOC_MAX = 5
} rtMemLocationType;

/** What a copy with arithmetic does at its destination. */
typedef enum tagRtRecudeKind {
    RT_MEMCPY_SDMA_AUTOMATIC_ADD = 10,
    RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
    RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
    RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13
} rtRecudeKind_t;

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_BASE_H */
