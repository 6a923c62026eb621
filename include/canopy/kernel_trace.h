/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the tracing code of a kernel image and a tracer.
 *
 * Besides its code, an image may have two more targets: "trace", a shared object in which copies and operations on
 * elements report to a tracer instead of executing, and "trace-bitcode", the same as LLVM bitcode, which provides the
 * functions that compute one element. The shared object exports `canopy_image_tracer`, which is set before any of its
 * kernels runs. Plain C layout; structures only grow at their end.
 */
#ifndef CANOPY_KERNEL_TRACE_H
#define CANOPY_KERNEL_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_TRACE_TARGET "trace"
#define CANOPY_TRACE_BITCODE_TARGET "trace-bitcode"
#define CANOPY_TRACE_SOURCES 3

/* How an operation computes one element. Unused sources are ignored. An element of size 0 is a bit: packed from the
 * lowest bit up in memory, passed to the function as a byte of 0 or 1. `zero` must be 0, preferably in a form that the
 * compiler cannot see through: half values then stay floats between operations. */
typedef struct CanopyTraceOperation {
    void (*function)(void* target, const void* object, const void* source0, const void* source1, const void* source2,
                     uint32_t zero);
    uint32_t object_size; /* bytes of the operation's constants */
    uint8_t target_size;  /* bytes of an element */
    uint8_t source_count;
    uint8_t source_sizes[CANOPY_TRACE_SOURCES];
} CanopyTraceOperation;

typedef struct CanopyTracer {
    uint32_t size; /* bytes of the tracer's version of this table */
    uint32_t reserved;
    void (*copy)(void* to, const void* from, uint64_t bytes);
    /* The bytes become unknown. */
    void (*forget)(void* local, uint64_t bytes);
    void (*compute)(const CanopyTraceOperation* operation, const void* object, uint64_t count, void* target,
                    const void* source0, const void* source1, const void* source2);
    /* The kernel does something that cannot be traced. Does not return. */
    void (*refuse)(const char* what);
} CanopyTracer;

#ifdef __cplusplus
}
#endif

#endif
