/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of shared buffers between threads and processes, and routes that connect queues. A queue is known by
 * its number, which other processes may use when it was granted to them. Queues and routes may be used by
 * several threads at once; attribute and list objects by one.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_TDT_QUEUE_H
#define CANOPY_INCLUDE_ACL_ACL_TDT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a process may do with a queue; the values combine. */
#define ACL_TDT_QUEUE_PERMISSION_MANAGE 0x1U
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 0x2U
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 0x4U

/** The state of a route. */
#define ACL_TDT_QUEUE_ROUTE_UNBIND 0
#define ACL_TDT_QUEUE_ROUTE_BIND 1
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2

/** A shared buffer: data and a user area of 96 bytes. The same thing as aclrtMbuf. */
typedef void* acltdtBuf;

/** What a new queue is like. */
typedef struct tagMemQueueAttr acltdtQueueAttr;

/** A connection from one queue to another. */
typedef struct acltdtQueueRoute acltdtQueueRoute;

/** A list of routes. */
typedef struct acltdtQueueRouteList acltdtQueueRouteList;

/** Which routes to ask for. */
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;

/** The memory that a buffer comes from. */
typedef enum acltdtAllocBufType { ACL_TDT_NORMAL_MEM = 0, ACL_TDT_DVPP_MEM = 1 } acltdtAllocBufType;

/** An attribute of a queue. */
typedef enum acltdtQueueAttrType {
    ACL_TDT_QUEUE_NAME_PTR = 0,    /**< the name, given as a pointer to char * */
    ACL_TDT_QUEUE_DEPTH_UINT32 = 1 /**< how many buffers it holds; 8 unless set */
} acltdtQueueAttrType;

/** A property of a route. */
typedef enum acltdtQueueRouteParamType {
    ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
    ACL_TDT_QUEUE_ROUTE_DST_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_STATUS_INT32 = 2
} acltdtQueueRouteParamType;

/** By what routes are searched. */
typedef enum acltdtQueueRouteQueryMode {
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
    ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100
} acltdtQueueRouteQueryMode;

/** A property of a search. */
typedef enum acltdtQueueRouteQueryInfoParamType {
    ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 = 2
} acltdtQueueRouteQueryInfoParamType;

/* ------------------------------------------------------------------------------------------------------------
 * Queues
 *
 * Timeouts are in milliseconds: -1 waits without limit, 0 does not wait. An unknown number gives
 * ACL_ERROR_INVALID_QUEUE_ID.
 * ------------------------------------------------------------------------------------------------------------ */

/** Creates the attributes of a queue with their defaults. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY acltdtQueueAttr* acltdtCreateQueueAttr(void);

/** Destroys the attributes of a queue. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr);

/** Sets an attribute from the `len` bytes at `param`. */
ACL_FUNC_VISIBILITY aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                                                const void* param);

/** Reads an attribute into the `len` bytes at `param` and returns how many were used. */
ACL_FUNC_VISIBILITY aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                                                size_t* paramRetSize, void* param);

/** Creates a queue and returns its number. An empty name is replaced by a generated one. */
ACL_FUNC_VISIBILITY aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid);

/** Destroys a queue. The buffers in it are freed. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueue(uint32_t qid);

/** Allows the process `pid` to use a queue as far as `permission` says. */
ACL_FUNC_VISIBILITY aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout);

/** Starts to use a queue that another process granted; returns what is permitted. */
ACL_FUNC_VISIBILITY aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission);

/** Puts a buffer into a queue, which then owns it. No room in time gives ACL_ERROR_RT_QUEUE_FULL. */
ACL_FUNC_VISIBILITY aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);

/** Takes a buffer out of a queue; the caller then owns it. None in time gives ACL_ERROR_RT_QUEUE_EMPTY. */
ACL_FUNC_VISIBILITY aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout);

/** Puts a copy of `data`, with up to 96 bytes of user data, into a queue. `rsv` is 0. */
ACL_FUNC_VISIBILITY aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize, const void* userData,
                                               size_t userDataSize, int32_t timeout, uint32_t rsv);

/** Takes data out of a queue into `data`, which holds `dataSize` bytes, and its user data into `userData`. */
ACL_FUNC_VISIBILITY aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize, size_t* retDataSize,
                                               void* userData, size_t userDataSize, int32_t timeout);

/* ------------------------------------------------------------------------------------------------------------
 * Queue buffers
 * ------------------------------------------------------------------------------------------------------------ */

/** Allocates a buffer of `size` bytes (at most 4 GiB) of the kind `type`. Its data length starts at 0. */
ACL_FUNC_VISIBILITY aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf);

/** Frees a buffer. The memory goes with its last reference. */
ACL_FUNC_VISIBILITY aclError acltdtFreeBuf(acltdtBuf buf);

/** Returns the address and the capacity of the data of a buffer. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size);

/** Sets how many bytes of a buffer are valid. */
ACL_FUNC_VISIBILITY aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);

/** Returns how many bytes of a buffer are valid. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len);

/** Writes `size` bytes into the user area at `offset`; both stay within its 96 bytes. */
ACL_FUNC_VISIBILITY aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size, size_t offset);

/** Reads `size` bytes of the user area at `offset`; both stay within its 96 bytes. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size, size_t offset);

/** Creates a second reference to the memory of a buffer. */
ACL_FUNC_VISIBILITY aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf);

/** Appends a buffer to the chain that starts with `headBuf` (at most 128 buffers). */
ACL_FUNC_VISIBILITY aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);

/** Returns the number of buffers in a chain. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num);

/** Returns the buffer at `index` of a chain. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf);

/* ------------------------------------------------------------------------------------------------------------
 * Queue routes
 * ------------------------------------------------------------------------------------------------------------ */

/** Describes a route between two queues. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);

/** Destroys the description of a route; a bound route stays bound. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route);

/** Reads a property of a route into the `len` bytes at `param` and returns how many were used. */
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route, acltdtQueueRouteParamType type,
                                                      size_t len, size_t* paramRetSize, void* param);

/** Creates an empty list of routes. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY acltdtQueueRouteList* acltdtCreateQueueRouteList(void);

/** Destroys a list of routes. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* routeList);

/** Appends a copy of a route to a list. */
ACL_FUNC_VISIBILITY aclError acltdtAddQueueRoute(acltdtQueueRouteList* routeList, const acltdtQueueRoute* route);

/** Copies the route at `index` of a list into `route`. */
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRoute(const acltdtQueueRouteList* routeList, size_t index,
                                                 acltdtQueueRoute* route);

/** Returns the number of routes in a list; 0 for null. */
ACL_FUNC_VISIBILITY size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* routeList);

/**
 * Binds the routes of a list, each by itself. Routes that form a chain are refused. The state of each route is noted
 * in it; if one fails, the others stay bound.
 */
ACL_FUNC_VISIBILITY aclError acltdtBindQueueRoutes(acltdtQueueRouteList* qRouteList);

/** Unbinds every route of a list. */
ACL_FUNC_VISIBILITY aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* qRouteList);

/** Creates an empty search. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void);

/** Destroys a search. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info);

/** Sets a property of a search from the `len` bytes at `value`. */
ACL_FUNC_VISIBILITY aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* param,
                                                          acltdtQueueRouteQueryInfoParamType type, size_t len,
                                                          const void* value);

/** Fills a list with the bound routes that a search finds. */
ACL_FUNC_VISIBILITY aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* queryInfo,
                                                    acltdtQueueRouteList* qRouteList);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_TDT_QUEUE_H */
