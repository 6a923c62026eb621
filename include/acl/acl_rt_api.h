/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ conveniences over acl_rt.h: typed and shorter spellings with the names of the C functions.
 * Each one forwards to exactly one C function and adds no state, so the thread and ordering rules
 * are those of that function. C++ programs opt in by including this header; acl.h does not pull it
 * in. Seen from C it is acl_rt.h.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_RT_API_H
#define CANOPY_INCLUDE_ACL_ACL_RT_API_H

#include "acl_rt.h"

#ifdef __cplusplus

/* ----------------------------------------------------------------------------------------------
 * Synchronisation with a timeout, streams and events
 * ---------------------------------------------------------------------------------------------- */

/** Waits at most `timeout` milliseconds for the current context: aclrtSynchronizeDeviceWithTimeout. */
static inline aclError aclrtSynchronizeDevice(int32_t timeout) { return aclrtSynchronizeDeviceWithTimeout(timeout); }

/** Waits at most `timeout` milliseconds for a stream: aclrtSynchronizeStreamWithTimeout. */
static inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout) {
    return aclrtSynchronizeStreamWithTimeout(stream, timeout);
}

/** Waits at most `timeout` milliseconds for an event: aclrtSynchronizeEventWithTimeout. */
static inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout) {
    return aclrtSynchronizeEventWithTimeout(event, timeout);
}

/** Queues a wait of at most `timeout` seconds: aclrtStreamWaitEventWithTimeout. */
static inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

/** Creates a stream with a priority and ACL_STREAM_* flags: aclrtCreateStreamWithConfig. */
static inline aclError aclrtCreateStream(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

/** Sets the kernel timeout in microseconds: aclrtSetOpExecuteTimeOutV2. */
static inline aclError aclrtSetOpExecuteTimeOut(uint64_t timeout, uint64_t* actualTimeout) {
    return aclrtSetOpExecuteTimeOutV2(timeout, actualTimeout);
}

/** Creates an event that may be recorded again and again: aclrtCreateEventExWithFlag. */
static inline aclError aclrtCreateEvent(aclrtEvent* event, uint32_t flag) {
    return aclrtCreateEventExWithFlag(event, flag);
}

/* ----------------------------------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------------------------------- */

/** Allocates `size` bytes of device memory, huge pages first: aclrtMallocWithCfg. */
template <typename T>
static inline aclError aclrtMalloc(T** devPtr, size_t size, aclrtMallocConfig* cfg = nullptr) {
    return aclrtMallocWithCfg(static_cast<void**>(static_cast<void*>(devPtr)), size, ACL_MEM_MALLOC_HUGE_FIRST, cfg);
}

/** Allocates `size` bytes of device memory with a page policy: aclrtMallocWithCfg. */
template <typename T>
static inline aclError aclrtMalloc(T** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                   aclrtMallocConfig* cfg = nullptr) {
    return aclrtMallocWithCfg(static_cast<void**>(static_cast<void*>(devPtr)), size, policy, cfg);
}

/** Allocates `size` bytes of pinned host memory: aclrtMallocHostWithCfg. */
template <typename T>
static inline aclError aclrtMallocHost(T** hostPtr, size_t size, aclrtMallocConfig* cfg = nullptr) {
    return aclrtMallocHostWithCfg(static_cast<void**>(static_cast<void*>(hostPtr)), size, cfg);
}

/** Copies `count` bytes and returns when they have arrived: the C aclrtMemcpy. */
template <typename T, typename U>
static inline aclError aclrtMemcpy(T* dst, size_t destMax, const U* src, size_t count, aclrtMemcpyKind kind) {
    return aclrtMemcpy(static_cast<void*>(dst), destMax, static_cast<const void*>(src), count, kind);
}

/** Queues a copy of `count` bytes on a stream: the C aclrtMemcpyAsync. */
template <typename T, typename U>
static inline aclError aclrtMemcpyAsync(T* dst, size_t destMax, const U* src, size_t count, aclrtMemcpyKind kind,
                                        aclrtStream stream) {
    return aclrtMemcpyAsync(static_cast<void*>(dst), destMax, static_cast<const void*>(src), count, kind, stream);
}

/** Copies `height` rows of `width` bytes: the C aclrtMemcpy2d. */
template <typename T, typename U>
static inline aclError aclrtMemcpy2d(T* dst, size_t dpitch, const U* src, size_t spitch, size_t width, size_t height,
                                     aclrtMemcpyKind kind) {
    return aclrtMemcpy2d(static_cast<void*>(dst), dpitch, static_cast<const void*>(src), spitch, width, height, kind);
}

/** Queues a copy of `height` rows of `width` bytes: the C aclrtMemcpy2dAsync. */
template <typename T, typename U>
static inline aclError aclrtMemcpy2dAsync(T* dst, size_t dpitch, const U* src, size_t spitch, size_t width,
                                          size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
    return aclrtMemcpy2dAsync(static_cast<void*>(dst), dpitch, static_cast<const void*>(src), spitch, width, height,
                              kind, stream);
}

/**
 * Copies a batch whose items may have different attributes. With `failIndex` it is the C
 * aclrtMemcpyBatch, without it aclrtMemcpyBatchV2.
 */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatch(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                        aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                        size_t* failIndex = nullptr) {
    void** const targets = static_cast<void**>(static_cast<void*>(dsts));
    void** const sources = static_cast<void**>(static_cast<void*>(srcs));
    if (failIndex == nullptr) {
        return aclrtMemcpyBatchV2(targets, destMaxs, sources, sizes, numBatches, attrs, attrsIndexes, numAttrs);
    }
    return aclrtMemcpyBatch(targets, destMaxs, sources, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex);
}

/** Copies a batch whose items all have the attribute `attr`. */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatch(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                        aclrtMemcpyBatchAttr attr, size_t* failIndex = nullptr) {
    void** const targets = static_cast<void**>(static_cast<void*>(dsts));
    void** const sources = static_cast<void**>(static_cast<void*>(srcs));
    size_t first = 0;
    if (failIndex == nullptr) {
        return aclrtMemcpyBatchV2(targets, destMaxs, sources, sizes, numBatches, &attr, &first, 1);
    }
    return aclrtMemcpyBatch(targets, destMaxs, sources, sizes, numBatches, &attr, &first, 1, failIndex);
}

/** Queues a batch whose items may have different attributes: aclrtMemcpyBatchAsyncV2. */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatchAsync(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                             aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                             aclrtStream stream) {
    return aclrtMemcpyBatchAsyncV2(static_cast<void**>(static_cast<void*>(dsts)), destMaxs,
                                   static_cast<void**>(static_cast<void*>(srcs)), sizes, numBatches, attrs,
                                   attrsIndexes, numAttrs, stream);
}

/** Queues a batch whose items all have the attribute `attr`: aclrtMemcpyBatchAsyncV2. */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatchAsync(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                             aclrtMemcpyBatchAttr attr, aclrtStream stream) {
    size_t first = 0;
    return aclrtMemcpyBatchAsyncV2(static_cast<void**>(static_cast<void*>(dsts)), destMaxs,
                                   static_cast<void**>(static_cast<void*>(srcs)), sizes, numBatches, &attr, &first, 1,
                                   stream);
}

/** Queues a batch and reports the item that failed: the C aclrtMemcpyBatchAsync. */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatchAsync(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                             aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                             size_t* failIndex, aclrtStream stream) {
    return aclrtMemcpyBatchAsync(static_cast<void**>(static_cast<void*>(dsts)), destMaxs,
                                 static_cast<void**>(static_cast<void*>(srcs)), sizes, numBatches, attrs, attrsIndexes,
                                 numAttrs, failIndex, stream);
}

/** Queues a batch of one attribute and reports the item that failed: the C aclrtMemcpyBatchAsync. */
template <typename T, typename U>
static inline aclError aclrtMemcpyBatchAsync(T** dsts, size_t* destMaxs, U** srcs, size_t* sizes, size_t numBatches,
                                             aclrtMemcpyBatchAttr attr, size_t* failIndex, aclrtStream stream) {
    size_t first = 0;
    return aclrtMemcpyBatchAsync(static_cast<void**>(static_cast<void*>(dsts)), destMaxs,
                                 static_cast<void**>(static_cast<void*>(srcs)), sizes, numBatches, &attr, &first, 1,
                                 failIndex, stream);
}

/** Tells where a pointer leads: the C aclrtPointerGetAttributes. */
template <typename T>
static inline aclError aclrtPointerGetAttributes(const T* ptr, aclrtPtrAttributes* attributes) {
    return aclrtPointerGetAttributes(static_cast<const void*>(ptr), attributes);
}

/** Makes a host range visible to the device and returns its device address. */
template <typename T>
static inline aclError aclrtHostRegister(T* ptr, uint64_t size, aclrtHostRegisterType type, T** devPtr) {
    return aclrtHostRegister(static_cast<void*>(ptr), size, type, static_cast<void**>(static_cast<void*>(devPtr)));
}

/** Makes a host range visible to the device with ACL_HOST_REG_* flags: aclrtHostRegisterV2. */
template <typename T>
static inline aclError aclrtHostRegister(T* ptr, uint64_t size, uint32_t flag) {
    return aclrtHostRegisterV2(static_cast<void*>(ptr), size, flag);
}

/** Returns the device address of a registered host range: the C aclrtHostGetDevicePointer. */
template <typename T>
static inline aclError aclrtHostGetDevicePointer(T* pHost, T** pDevice, uint32_t flag) {
    return aclrtHostGetDevicePointer(static_cast<void*>(pHost), static_cast<void**>(static_cast<void*>(pDevice)), flag);
}

/** Ends the registration of a host range: the C aclrtHostUnregister. */
template <typename T>
static inline aclError aclrtHostUnregister(T* ptr) {
    return aclrtHostUnregister(static_cast<void*>(ptr));
}

/* ----------------------------------------------------------------------------------------------
 * Managed memory
 * ---------------------------------------------------------------------------------------------- */

/** Allocates memory that host and device both dereference: the C aclrtMemAllocManaged. */
template <typename T>
static inline aclError aclrtMemAllocManaged(T** devPtr, size_t size, uint32_t flags = ACL_RT_MEM_ATTACH_GLOBAL) {
    return aclrtMemAllocManaged(static_cast<void**>(static_cast<void*>(devPtr)), static_cast<uint64_t>(size), flags);
}

/** Queues a move of a managed range: the C aclrtMemManagedPrefetchAsync. */
template <typename T>
static inline aclError aclrtMemManagedPrefetchAsync(const T* ptr, size_t size, aclrtMemManagedLocation location,
                                                    uint32_t flags, aclrtStream stream) {
    return aclrtMemManagedPrefetchAsync(static_cast<const void*>(ptr), size, location, flags, stream);
}

/** Queues moves of several managed ranges to several places. */
template <typename T>
static inline aclError aclrtMemManagedPrefetchBatchAsync(const T** ptrs, size_t* sizes, size_t count,
                                                         aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                         size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
    return aclrtMemManagedPrefetchBatchAsync(static_cast<const void**>(static_cast<void*>(ptrs)), sizes, count,
                                             prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream);
}

/** Queues moves of several managed ranges to one place. */
template <typename T>
static inline aclError aclrtMemManagedPrefetchBatchAsync(const T** ptrs, size_t* sizes, size_t count,
                                                         aclrtMemManagedLocation prefetchLoc, uint64_t flags,
                                                         aclrtStream stream) {
    size_t first = 0;
    return aclrtMemManagedPrefetchBatchAsync(static_cast<const void**>(static_cast<void*>(ptrs)), sizes, count,
                                             &prefetchLoc, &first, 1, flags, stream);
}

/* ----------------------------------------------------------------------------------------------
 * Device variables by name
 *
 * A symbol is the host shadow of a global variable of a kernel source; its address names it.
 * ---------------------------------------------------------------------------------------------- */

/** Returns the device address of a symbol: the C aclrtGetSymbolAddress. */
template <typename T>
static inline aclError aclrtGetSymbolAddress(const T& symbol, void** devPtr) {
    return aclrtGetSymbolAddress(static_cast<const void*>(&symbol), devPtr);
}

/** Returns the size in bytes of a symbol: the C aclrtGetSymbolSize. */
template <typename T>
static inline aclError aclrtGetSymbolSize(const T& symbol, size_t* size) {
    return aclrtGetSymbolSize(static_cast<const void*>(&symbol), size);
}

/** Copies from a symbol and returns when the bytes have arrived: the C aclrtMemcpyFromSymbol. */
template <typename T>
static inline aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const T& symbol, size_t count, size_t offset,
                                             aclrtMemcpyKind kind) {
    return aclrtMemcpyFromSymbol(dst, dstMax, static_cast<const void*>(&symbol), count, offset, kind);
}

/** Queues a copy from a symbol: the C aclrtMemcpyFromSymbolAsync. */
template <typename T>
static inline aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const T& symbol, size_t count,
                                                  size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
    return aclrtMemcpyFromSymbolAsync(dst, dstMax, static_cast<const void*>(&symbol), count, offset, kind, stream);
}

/** Copies to a symbol and returns when the bytes have arrived: the C aclrtMemcpyToSymbol. */
template <typename T>
static inline aclError aclrtMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset,
                                           aclrtMemcpyKind kind) {
    return aclrtMemcpyToSymbol(static_cast<const void*>(&symbol), src, count, offset, kind);
}

/** Queues a copy to a symbol: the C aclrtMemcpyToSymbolAsync. */
template <typename T>
static inline aclError aclrtMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset,
                                                aclrtMemcpyKind kind, aclrtStream stream) {
    return aclrtMemcpyToSymbolAsync(static_cast<const void*>(&symbol), src, count, offset, kind, stream);
}

#endif /* __cplusplus */

#endif /* CANOPY_INCLUDE_ACL_ACL_RT_API_H */
