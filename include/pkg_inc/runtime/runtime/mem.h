/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of devices and of the host, fills, and copies in streams. rtMemcpy is in rt_external_mem.h.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_H

#include "base.h"
#include "mem_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An attribute of a copy. */
typedef enum rtMemcpyAttributeId {
    RT_MEMCPY_ATTRIBUTE_RSV = 0,
    RT_MEMCPY_ATTRIBUTE_CHECK = 1,
    RT_MEMCPY_ATTRIBUTE_MAX = 2
} rtMemcpyAttributeId_t;

/** What a copy between devices travels over. */
typedef enum tagRtMemcpyChannelType {
    RT_MEMCPY_CHANNEL_TYPE_INNER = 0, /**< both ends are on one device */
    RT_MEMCPY_CHANNEL_TYPE_PCIe = 1,
    RT_MEMCPY_CHANNEL_TYPE_HCCs = 2,
    RT_MEMCPY_CHANNEL_TYPE_UB = 3,
    RT_MEMCPY_CHANNEL_TYPE_RESERVED = 4
} rtMemcpyChannelType_t;

/** What memory is, as older functions say it. */
typedef enum tagRtMemoryType {
    RT_MEMORY_TYPE_HOST = 1,
    RT_MEMORY_TYPE_DEVICE = 2,
    RT_MEMORY_TYPE_SVM = 3,
    RT_MEMORY_TYPE_DVPP = 4,
    RT_MEMORY_TYPE_USER = 5
} rtMemoryType_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: memory
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Allocates memory of the current device: `type` is RT_MEMORY_* with one RT_MEMORY_POLICY_*, or RT_MEMORY_SVM for
 * managed memory. `moduleId` is ignored. Unknown kinds of memory give 107016.
 */
RTS_API rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t type, const uint16_t moduleId);

/** Frees memory of rtMalloc at once, as aclrtFree does. */
RTS_API rtError_t rtFree(void* devPtr);

/** Allocates host memory that copies of streams can use without waiting. */
RTS_API rtError_t rtMallocHost(void** hostPtr, uint64_t size, const uint16_t moduleId);

/** Frees memory of rtMallocHost. */
RTS_API rtError_t rtFreeHost(void* hostPtr);

/** Sets `cnt` bytes to the low byte of `val` and returns when that is done. */
RTS_API rtError_t rtMemset(void* devPtr, uint64_t destMax, uint32_t val, uint64_t cnt);

/** Queues a copy, as aclrtMemcpyAsync does. */
RTS_API rtError_t rtMemcpyAsync(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind,
                                rtStream_t stm);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_MEM_H */
