/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the tracing code of a kernel image and whoever traces its kernels.
 *
 * An image may carry two more targets beside its code: "trace", a shared object in which copies and operations on
 * elements tell a tracer about themselves instead of happening, and "trace-bitcode", the same as LLVM bitcode, from
 * which the functions that compute one element can be taken. The shared object exports `canopy_image_tracer`, which is
 * set before one of its kernels runs. Plain C layout; structures only grow at their end.
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

/* How an operation computes one element. Sources that it does not have are not looked at. An element of size 0 is a
 * bit: packed from the lowest bit up in memory, a byte that is 0 or 1 for the function. `zero` is 0, and best a zero
 * that the compiler of a loop over the function cannot see through: halves then stay floats between their operations.
 */
typedef struct CanopyTraceOperation {
    void (*function)(void* target, const void* object, const void* source0, const void* source1, const void* source2,
                     uint32_t zero);
    uint32_t object_size; /* bytes of the operation's constants */
    uint8_t target_size;  /* bytes of an element */
    uint8_t source_count;
    uint8_t source_sizes[CANOPY_TRACE_SOURCES];
} CanopyTraceOperation;

typedef struct CanopyTracer {
    uint32_t size; /* bytes of this table as the tracer knows it */
    uint32_t reserved;
    void (*copy)(void* to, const void* from, uint64_t bytes);
    /* The bytes become something that cannot be told. */
    void (*forget)(void* local, uint64_t bytes);
    void (*compute)(const CanopyTraceOperation* operation, const void* object, uint64_t count, void* target,
                    const void* source0, const void* source1, const void* source2);
    /* The kernel does something traces do not know; does not return. */
    void (*refuse)(const char* what);
} CanopyTracer;

#ifdef __cplusplus
}
#endif

#endif
