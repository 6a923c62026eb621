/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between a compiled kernel image and the device that runs it.
 *
 * Used by the kernel-language headers (compiled into every image) and by the software NPU's module loader. An image
 * exports one data symbol, `canopy_image_services`, which the loader points at the device's table before the first
 * kernel runs, and one entry function per kernel. Everything here is plain C layout: an image built by one release
 * keeps working with a later one as long as `CANOPY_KERNEL_ABI_VERSION` is the same; structures only grow at their end.
 */
#ifndef CANOPY_KERNEL_ABI_H
#define CANOPY_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_KERNEL_ABI_VERSION 2u

/* Which cores a kernel asks for; the numbers are those of the function attribute "kernel type". */
enum CanopyCoreType { CANOPY_CORE_AICORE = 0, CANOPY_CORE_CUBE = 1, CANOPY_CORE_VECTOR = 2, CANOPY_CORE_MIX = 3 };

/* The memories of a core, numbered as the kernel language's `Hardware`. */
enum CanopyMemory {
    CANOPY_MEMORY_GLOBAL = 0, /* no memory of the core: its entry is empty */
    CANOPY_MEMORY_UB = 1,
    CANOPY_MEMORY_L1 = 2,
    CANOPY_MEMORY_L0A = 3,
    CANOPY_MEMORY_L0B = 4,
    CANOPY_MEMORY_L0C = 5,
    CANOPY_MEMORY_BIAS = 6,
    CANOPY_MEMORY_FIXPIPE = 7,
    CANOPY_MEMORY_COUNT = 8
};

#define CANOPY_CORE_REGISTERS 8192
#define CANOPY_CORE_CLEARED 64

/* One core while a block runs on it. Every memory has the chip's size and ends at an inaccessible page, so that the
 * first byte behind it faults; it lies below 4 GiB when the machine has room there. What an earlier block left in a
 * memory is still there. The registers are the kernel language's own state: the first CANOPY_CORE_CLEARED bytes are
 * zero when the core is opened, the others as they were left. */
typedef struct CanopyCore {
    struct {
        unsigned char* base;
        uint32_t size; /* bytes; 0 where the chip has no such memory */
    } memory[CANOPY_MEMORY_COUNT];
#ifdef __cplusplus
    alignas(64)
#else
    _Alignas(64)
#endif
        unsigned char registers[CANOPY_CORE_REGISTERS];
} CanopyCore;

/* Who the running block is. One per block; stays valid while the block runs.
 *
 * A launch of n groups of a kernel for c cube and v vector cores runs n * (c + v) blocks. Those of a group share
 * `index`; `count` is n for all of them; `core_type` is CANOPY_CORE_CUBE or CANOPY_CORE_VECTOR, never CANOPY_CORE_MIX;
 * `sub_index` counts the cores of one kind inside the group; `sub_count` is v (at least 1) on cube cores too. */
typedef struct CanopyBlock {
    uint32_t index;        /* block_idx: 0 .. count-1 */
    uint32_t count;        /* block_num: blocks of this launch */
    uint32_t sub_index;    /* position inside a cube/vector group */
    uint32_t sub_count;    /* vector cores of a group, at least 1 */
    uint32_t core_type;    /* a CanopyCoreType */
    uint32_t dynamic_size; /* bytes of dynamic local memory asked for at the launch */
    void* launch;          /* the device's own */
    CanopyCore* core;      /* null until the block opens its core */
    uint32_t vector_count; /* vector cores of a group: 0 when the kernel runs on cube cores alone */
} CanopyBlock;

/* Dimensions of a SIMT launch: the last slot of the argument block of a kernel whose note carries the SIMT flag. */
typedef struct CanopyGrid {
    uint32_t grid[3];
    uint32_t block[3];
} CanopyGrid;

#define CANOPY_MAX_THREADS 2048u /* SIMT threads of a block */

/* Whom `sync` waits for. */
enum CanopySyncScope {
    CANOPY_SYNC_ALL = 0,    /* every core of the launch */
    CANOPY_SYNC_VECTOR = 1, /* all vector cores */
    CANOPY_SYNC_CUBE = 2,   /* all cube cores */
    CANOPY_SYNC_PAIR = 3    /* the vector cores of the caller's group */
};

#define CANOPY_FLAG_LIMIT 15u /* what the counter of a cross-core flag can hold */

enum CanopyElement {
    CANOPY_ELEMENT_FLOAT = 0,
    CANOPY_ELEMENT_HALF = 1,
    CANOPY_ELEMENT_BFLOAT16 = 2,
    CANOPY_ELEMENT_INT8 = 3,
    CANOPY_ELEMENT_UINT8 = 4,
    CANOPY_ELEMENT_INT32 = 5,
    CANOPY_ELEMENT_FLOAT8_E4M3 = 6,
    CANOPY_ELEMENT_FLOAT8_E5M2 = 7,
    CANOPY_ELEMENT_INT4 = 8, /* two in a byte, the lower four bits first; strides count elements */
    CANOPY_ELEMENT_HIFLOAT8 = 9,
    CANOPY_ELEMENT_FLOAT4_E2M1 = 10, /* packed as INT4 */
    CANOPY_ELEMENT_FLOAT4_E1M2 = 11
};

/* A matrix stored as blocks. Row i lies i / rows * row_stride + i % rows * (the matrix's own row stride) elements
 * behind the address; columns alike. 0 rows or columns: not blocked that way. */
typedef struct CanopyBlocking {
    uint32_t rows, columns;
    int64_t row_stride, column_stride;
} CanopyBlocking;

/* Powers of two (one byte each, 2 ** (byte - 127)) that multiply each 32 neighbours along k. The one of row (A) or
 * column (B) i and k lies i * stride + k / 64 * pair_stride + k / 32 % 2 * group_stride bytes behind `data`. */
typedef struct CanopyScale {
    const uint8_t* data; /* null: none */
    int64_t stride, pair_stride, group_stride;
} CanopyScale;

/* C[m][n] = sum over k of A[m][k] * B[k][n], plus what C held or plus a bias of the column. Element (i, j) of a matrix
 * lies i * row_stride + j * column_stride elements behind its address, so a transposed matrix is one with its strides
 * exchanged. Integers (A and B of INT8, UINT8 or INT4) are summed as int32, everything else as float; the sum is
 * rounded once, to the type of C: FLOAT, HALF or BFLOAT16, or INT32 for integers. C overlaps neither A nor B. */
typedef struct CanopyProduct {
    const void* a;
    const void* b;
    const void* bias; /* n values one behind the other, or null */
    void* c;
    uint32_t a_type; /* a CanopyElement; also those below */
    uint32_t b_type;
    uint32_t bias_type; /* FLOAT, HALF, BFLOAT16 or INT32 */
    uint32_t c_type;
    int64_t m, n, k;
    int64_t a_row_stride, a_column_stride;
    int64_t b_row_stride, b_column_stride;
    int64_t c_row_stride, c_column_stride;
    uint32_t accumulate; /* not 0: added to what C holds */
    uint32_t saturate;   /* not 0: a HALF result out of range is held at the largest finite value */
    CanopyBlocking a_blocks, b_blocks, c_blocks; /* all 0: plain matrices */
    CanopyScale a_scale, b_scale;
} CanopyProduct;

/* What a kernel may ask of the device. Every function may be called from any block at any time; because a block can
 * continue on another thread after a call that waits (`sync_all`, `yield`, `sync`, `wait_flag`, `run_threads`,
 * `thread_barrier`), an image never keeps the result of `current_block` or an address of a thread-local variable across
 * one. The core that `open_core` returned stays with the block. A wait that nobody can end any more fails the task. */
typedef struct CanopyServices {
    uint32_t version;
    uint32_t size; /* bytes of this table as the device knows it */
    CanopyBlock* (*current_block)(void);
    void (*sync_all)(void);                         /* waits until every block of the launch has arrived */
    void (*trap)(void);                             /* ends the block with the device's trap code; does not return */
    void (*print)(const char* text, size_t length); /* appends to standard output, whole lines stay together */

    /* The core this block runs on, with the memory sizes of that architecture (2201, 3510, ...); sets `block->core`.
     * Called again it returns the same core and clears its registers as when it was opened. Fails the block when there
     * is no memory. */
    CanopyCore* (*open_core)(uint32_t architecture);
    /* Ends the block and fails the task; the text is part of the task's failure text. Does not return. */
    void (*fail)(const char* text, size_t length);
    /* Lets other blocks run. Every loop that waits for what another block does calls it. */
    void (*yield)(void);
    /* Waits until all blocks of the scope (a CanopySyncScope) have arrived. */
    void (*sync)(uint32_t scope);
    /* Cross-core flags: counters from 0 to CANOPY_FLAG_LIMIT, ids 0..15 for each mode (0..31 on the cube side of mode
     * 4). A wait takes one from a counter of its core and waits while it is 0. Who a set is for, by mode:
     *   0  counts in all cores of the caller's kind once each of them has set it
     *   1  counts in the vector cores of the caller's group once each of them has set it
     *   2  cube: counts in every vector core of the group; vector: in the cube once each vector core has set it
     *   4  cube, id 0..15: counts in the first vector core, 16..31: in the second, as id - 16 there;
     *      vector: counts in the cube, as id on the first vector core and as id + 16 on the second
     * Modes 0, 1 and 2 share their ids on the waiting side, as on the chip; those of mode 4 are their own. A count
     * above the limit fails the block that sets it. */
    void (*set_flag)(uint32_t mode, uint32_t id);
    void (*wait_flag)(uint32_t mode, uint32_t id);
    /* SIMT: calls `body(data)` `count` times (at most CANOPY_MAX_THREADS), as threads that may meet in barriers. All of
     * them run on the operating-system thread that runs the block, one after the other; none starts a sync or waits for
     * a flag. Returns when all have returned. */
    void (*run_threads)(void (*body)(void*), void* data, uint32_t count);
    uint32_t (*current_thread)(void); /* 0 .. count-1 inside run_threads, else 0 */
    /* Returns when the threads first .. first+count-1 of the block, the caller among them, have called it or ended. */
    void (*thread_barrier)(uint32_t first, uint32_t count);
    /* One matrix product, on the caller's thread. */
    void (*multiply)(const CanopyProduct* product);
    /* Kernels on CPU cores: `function(data)` is called when the whole launch has ended, however it ended, before the
     * stream goes on. It must not wait. Not 0: noted; any block may call it any number of times. */
    uint32_t (*at_launch_end)(void (*function)(void*), void* data);
} CanopyServices;

/* A kernel's entry: `arguments` is the launch's argument block, parameters at the offsets its metadata names. */
typedef void (*CanopyKernelEntry)(const void* arguments);

#ifdef __cplusplus
}
#endif

#endif
