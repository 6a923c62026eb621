/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered memory pools (experimental): allocations and releases are tasks of a stream, and a pool keeps
 * released blocks for reuse. acl_rt.h includes this header at its end. Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_RT_MEMORY_SOMA_H
#define CANOPY_INCLUDE_ACL_ACL_RT_MEMORY_SOMA_H

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Memory pools
 * ------------------------------------------------------------------------------------------------------------ */

/** A pool of device memory. */
typedef void* aclrtMemPool;

/** A property of a pool. The reuse switches are uint32_t values, all others uint64_t. */
typedef enum aclrtMemPoolAttr {
    ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,   /**< reuse across streams that an event orders */
    ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,         /**< reuse blocks whose release has already happened */
    ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /**< reuse by making one stream wait for another */
    ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,            /**< idle bytes kept at a synchronisation; default 0 */
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,         /**< bytes the pool holds */
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,            /**< most bytes it held; can be set to 0 */
    ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,             /**< bytes handed out */
    ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8                 /**< most bytes handed out; can be set to 0 */
} aclrtMemPoolAttr;

/** What a new pool is made of. Fields that are not named here must be 0. */
typedef struct aclrtMemPoolProps {
    aclrtMemAllocationType allocType; /**< ACL_MEM_ALLOCATION_TYPE_PINNED */
    aclrtMemHandleType handleType;    /**< ACL_MEM_HANDLE_TYPE_NONE */
    aclrtMemLocation location;        /**< a device */
    size_t maxSize;                   /**< upper bound in bytes; 0 means none */
    unsigned char reserved[32];       /**< all 0 */
} aclrtMemPoolProps;

/** Creates a pool on the device that `poolProps` names. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps);

/** Destroys a pool. ACL_ERROR_RT_PARAM_INVALID while blocks of it are in use. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);

/**
 * Takes `size` bytes from a pool, in the order of `stream`: tasks queued on that stream afterwards may use the
 * memory. The address is known when the call returns. `stream` must not be null.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream);

/** Gives a block back to its pool when the stream gets there. aclrtFree also accepts such a pointer. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream);

/** Sets a property of a pool from the value behind `value`. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/** Reads a property of a pool into the value behind `value`. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/** Returns idle memory to the device until the pool holds at most `minBytesToKeep` bytes. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_RT_MEMORY_SOMA_H */
