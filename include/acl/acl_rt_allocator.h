/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration of a user allocator with a stream. Libraries that need temporary device memory for work on a
 * stream ask here for the allocator of that stream. The registration is bookkeeping: the runtime itself never
 * calls the functions. Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_RT_ALLOCATOR_H
#define CANOPY_INCLUDE_ACL_ACL_RT_ALLOCATOR_H

#include <stddef.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Stream allocators
 * ------------------------------------------------------------------------------------------------------------ */

/** Allocates a block of at least `size` bytes and returns it, or null. */
typedef void* (*aclrtAllocatorAllocFunc)(aclrtAllocator object, size_t size);

/** Gives a block back. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator object, aclrtAllocatorBlock block);

/** Allocates a block of at least `size` bytes, at `address` where that is possible. */
typedef void* (*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator object, size_t size, aclrtAllocatorAddr address);

/** Returns the device address of a block. */
typedef void* (*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

/** Creates an empty description. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);

/** Destroys a description. Registrations made from it stay valid. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc);

/** Sets the object that is passed to each function of the description. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator);

/** Sets the function that allocates. Required before aclrtAllocatorRegister. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                              aclrtAllocatorAllocFunc func);

/** Sets the function that frees. Required before aclrtAllocatorRegister. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                             aclrtAllocatorFreeFunc func);

/** Sets the function that allocates at a wished address. Optional. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                                    aclrtAllocatorAllocAdviseFunc func);

/** Sets the function that finds the address of a block. Required before aclrtAllocatorRegister. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                                         aclrtAllocatorGetAddrFromBlockFunc func);

/**
 * Makes the described allocator the allocator of a stream; the last registration counts. The stream must be
 * named: null gives ACL_ERROR_INVALID_PARAM, as does a description that lacks its object or a required function.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc);

/**
 * Returns the allocator of a stream, in parts; outputs other than the description may be null. A stream without
 * an allocator gives ACL_ERROR_INVALID_PARAM.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc,
                                                       aclrtAllocator* allocator, aclrtAllocatorAllocFunc* allocFunc,
                                                       aclrtAllocatorFreeFunc* freeFunc,
                                                       aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                                       aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc);

/** Ends the registration of a stream. A stream without one is not an error. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorUnregister(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_RT_ALLOCATOR_H */
