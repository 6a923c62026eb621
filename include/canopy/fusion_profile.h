/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of the step times that launches of fused kernels record. A fused kernel made with profiling=1 has two more
 * slots at the end of its arguments: the address of a buffer in device memory, and a number. A launch writes a header,
 * followed by one record with begin and end for each block of each step, in the order in which they ended. Every launch
 * overwrites the buffer, so use one buffer per concurrent launch. The capacity is the rest of the allocation that
 * contains the address. Nothing is written if the address is null. With profiling, steps run separately, never as
 * compiled loops.
 */
#ifndef CANOPY_FUSION_PROFILE_H
#define CANOPY_FUSION_PROFILE_H

#include <stdint.h>

#define CANOPY_FUSION_PROFILE_MAGIC 0x50465943u /* the bytes "CYFP" */
#define CANOPY_FUSION_PROFILE_VERSION 1u

typedef struct canopyFusionProfileHeader {
    uint32_t magic;
    uint32_t version;
    uint32_t headerSize; /* bytes; the first record follows the header */
    uint32_t recordSize; /* bytes from one record to the next */
    uint64_t capacity;   /* records that fit */
    uint64_t count;      /* records of the launch so far; those beyond the capacity are not written */
    uint64_t task;       /* the number from the second slot */
    uint64_t steps;      /* steps of the fused kernel */
    uint64_t begin;      /* when the launch began */
    uint64_t reserved;
} canopyFusionProfileHeader;

/* Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct canopyFusionProfileRecord {
    uint32_t step;  /* index in the list, or among the tasks of the fused launch */
    uint32_t block; /* block index */
    uint32_t core;  /* index of the core in a block that runs on several, cube cores first */
    uint32_t reserved;
    uint64_t begin;
    uint64_t end;
} canopyFusionProfileRecord;

#endif
