/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of the steps of fused kernels, as launches write them. A fused kernel that was made with profiling=1 has two
 * slots at the end of its arguments: the address of device memory, and a number. A launch writes to that memory when
 * the blocks of its steps began and ended: a header, and behind it one record for each block and step, in the order
 * in which they ended. Every launch begins anew, so a buffer is for one launch at a time. As many records are written
 * as the allocation that the address lies in has room for behind it. Nothing is written when the address is null.
 * Such kernels run their steps apart, never as compiled loops.
 */
#ifndef CANOPY_FUSION_PROFILE_H
#define CANOPY_FUSION_PROFILE_H

#include <stdint.h>

#define CANOPY_FUSION_PROFILE_MAGIC 0x50465943u /* the bytes "CYFP" */
#define CANOPY_FUSION_PROFILE_VERSION 1u

typedef struct canopyFusionProfileHeader {
    uint32_t magic;
    uint32_t version;
    uint32_t headerSize; /* bytes; the first record follows */
    uint32_t recordSize; /* bytes from one record to the next */
    uint64_t capacity;   /* records there is room for */
    uint64_t count;      /* records of the launch so far; those beyond the capacity are not there */
    uint64_t task;       /* the number in the slot behind the address */
    uint64_t steps;      /* kernels of the fused one */
    uint64_t begin;      /* when the launch began */
    uint64_t reserved;
} canopyFusionProfileHeader;

/* Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct canopyFusionProfileRecord {
    uint32_t step;  /* its place in the list, or among the tasks of the fused launch */
    uint32_t block; /* number of the block */
    uint32_t core;  /* of a block that runs on several: which of them, cube cores first */
    uint32_t reserved;
    uint64_t begin;
    uint64_t end;
} canopyFusionProfileRecord;

#endif
