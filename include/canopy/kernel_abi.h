/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between a compiled kernel image and the device that runs it.
 *
 * Used by the kernel-language headers (compiled into every image) and by the software NPU's module loader. An image
 * exports one data symbol, `canopy_image_services`, which the loader points at the device's table before the first
 * kernel runs, and one entry function per kernel. Everything here is plain C layout: an image built by one release
 * keeps working with a later one as long as `CANOPY_KERNEL_ABI_VERSION` is the same; the table only grows at its end.
 */
#ifndef CANOPY_KERNEL_ABI_H
#define CANOPY_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_KERNEL_ABI_VERSION 1u

/* Which cores a kernel asks for; the numbers are those of the function attribute "kernel type". */
enum CanopyCoreType { CANOPY_CORE_AICORE = 0, CANOPY_CORE_CUBE = 1, CANOPY_CORE_VECTOR = 2, CANOPY_CORE_MIX = 3 };

/* Who the running block is. One per block; stays valid while the block runs. */
typedef struct CanopyBlock {
    uint32_t index;        /* block_idx: 0 .. count-1 */
    uint32_t count;        /* block_num: blocks of this launch */
    uint32_t sub_index;    /* position inside a cube/vector group */
    uint32_t sub_count;    /* vector cores of a group, at least 1 */
    uint32_t core_type;    /* a CanopyCoreType */
    uint32_t dynamic_size; /* bytes of dynamic local memory asked for at the launch */
    void* launch;          /* the device's own */
} CanopyBlock;

/* What a kernel may ask of the device. Every function may be called from any block at any time; because a block can
 * continue on another thread after `sync_all`, an image never keeps the result of `current_block` across that call. */
typedef struct CanopyServices {
    uint32_t version;
    uint32_t size; /* bytes of this table as the device knows it */
    CanopyBlock* (*current_block)(void);
    void (*sync_all)(void);                         /* waits until every block of the launch has arrived */
    void (*trap)(void);                             /* ends the block with the device's trap code; does not return */
    void (*print)(const char* text, size_t length); /* appends to standard output, whole lines stay together */
} CanopyServices;

/* A kernel's entry: `arguments` is the launch's argument block, parameters at the offsets its metadata names. */
typedef void (*CanopyKernelEntry)(const void* arguments);

#ifdef __cplusplus
}
#endif

#endif
