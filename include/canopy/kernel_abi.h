/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ABI between a compiled kernel image and the device that runs it.
 *
 * Used by the kernel-language headers (compiled into every image) and by the software NPU's module loader. An image
 * exports one entry function per kernel and one data symbol, `canopy_image_services`, which the loader points at the
 * device's table before the first kernel runs. The layout is plain C: images keep working with later releases as long
 * as `CANOPY_KERNEL_ABI_VERSION` is the same; structures only grow at their end.
 */
#ifndef CANOPY_KERNEL_ABI_H
#define CANOPY_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_KERNEL_ABI_VERSION 2u

/* The cores a kernel needs; values of the function attribute "kernel type". */
enum CanopyCoreType { CANOPY_CORE_AICORE = 0, CANOPY_CORE_CUBE = 1, CANOPY_CORE_VECTOR = 2, CANOPY_CORE_MIX = 3 };

/* The memories of a core, numbered as the kernel language's `Hardware`. */
enum CanopyMemory {
    CANOPY_MEMORY_GLOBAL = 0, /* not a memory of the core: its entry is empty */
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

/* One core while a block runs on it. Every memory has the chip's size and ends at an inaccessible page, so an access
 * past its end faults; it is below 4 GiB if the address space has room there. Memories keep what an earlier block left
 * in them. The registers are private state of the kernel language: opening the core clears the first
 * CANOPY_CORE_CLEARED bytes and leaves the rest. */
typedef struct CanopyCore {
    struct {
        unsigned char* base;
        uint32_t size; /* bytes; 0 if the chip has no such memory */
    } memory[CANOPY_MEMORY_COUNT];
#ifdef __cplusplus
    alignas(64)
#else
    _Alignas(64)
#endif
        unsigned char registers[CANOPY_CORE_REGISTERS];
} CanopyCore;

/* Identity of the running block. One per block; valid while the block runs.
 *
 * A launch of n groups of a kernel for c cube and v vector cores runs n * (c + v) blocks. Blocks of a group share
 * `index`; `count` is n for all of them; `core_type` is CANOPY_CORE_CUBE or CANOPY_CORE_VECTOR, never CANOPY_CORE_MIX;
 * `sub_index` counts the cores of one kind inside the group; `sub_count` is v (at least 1) on cube cores too. */
typedef struct CanopyBlock {
    uint32_t index;        /* block_idx: 0 .. count-1 */
    uint32_t count;        /* block_num: blocks of this launch */
    uint32_t sub_index;    /* position inside a cube/vector group */
    uint32_t sub_count;    /* vector cores of a group, at least 1 */
    uint32_t core_type;    /* a CanopyCoreType */
    uint32_t dynamic_size; /* bytes of dynamic local memory asked for at the launch */
    void* launch;          /* private to the device */
    CanopyCore* core;      /* null until the block opens its core */
    uint32_t vector_count; /* vector cores of a group: 0 if the kernel runs on cube cores only */
} CanopyBlock;

/* Dimensions of a SIMT launch: the last slot of the argument block of a kernel whose note carries the SIMT flag. */
typedef struct CanopyGrid {
    uint32_t grid[3];
    uint32_t block[3];
} CanopyGrid;

#define CANOPY_MAX_THREADS 2048u /* SIMT threads of a block */

/* The cores that `sync` waits for. */
enum CanopySyncScope {
    CANOPY_SYNC_ALL = 0,    /* every core of the launch */
    CANOPY_SYNC_VECTOR = 1, /* all vector cores */
    CANOPY_SYNC_CUBE = 2,   /* all cube cores */
    CANOPY_SYNC_PAIR = 3    /* the vector cores of the caller's group */
};

#define CANOPY_FLAG_LIMIT 15u /* largest value of a cross-core flag */

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

/* A matrix stored in blocks. Row i is at i / rows * row_stride + i % rows * (row stride of the matrix) elements after
 * the address; columns likewise. 0 rows or columns: not blocked in that dimension. */
typedef struct CanopyBlocking {
    uint32_t rows, columns;
    int64_t row_stride, column_stride;
} CanopyBlocking;

/* Powers of two (one byte each, 2 ** (byte - 127)), each multiplying 32 neighbours along k. The scale of row (A) or
 * column (B) i and k is i * stride + k / 64 * pair_stride + k / 32 % 2 * group_stride bytes after `data`. */
typedef struct CanopyScale {
    const uint8_t* data; /* null: none */
    int64_t stride, pair_stride, group_stride;
} CanopyScale;

/* C[m][n] = sum over k of A[m][k] * B[k][n], plus the old C or plus a bias per column. Element (i, j) of a matrix is
 * i * row_stride + j * column_stride elements after its address; to transpose a matrix, exchange its strides. Integers
 * (A and B of INT8, UINT8 or INT4) are summed as int32, everything else as float; the sum is rounded once, to the type
 * of C: FLOAT, HALF or BFLOAT16, or INT32 for integers. C overlaps neither A nor B. */
typedef struct CanopyProduct {
    const void* a;
    const void* b;
    const void* bias; /* n contiguous values, or null */
    void* c;
    uint32_t a_type; /* a CanopyElement, like the following types */
    uint32_t b_type;
    uint32_t bias_type; /* FLOAT, HALF, BFLOAT16 or INT32 */
    uint32_t c_type;
    int64_t m, n, k;
    int64_t a_row_stride, a_column_stride;
    int64_t b_row_stride, b_column_stride;
    int64_t c_row_stride, c_column_stride;
    uint32_t accumulate;                         /* not 0: add to C */
    uint32_t saturate;                           /* not 0: clamp a HALF result to the largest finite value */
    CanopyBlocking a_blocks, b_blocks, c_blocks; /* all 0: plain matrices */
    CanopyScale a_scale, b_scale;
} CanopyProduct;

/* Services of the device for kernels. Any block may call any function at any time. After a call that waits (`sync_all`,
 * `yield`, `sync`, `wait_flag`, `run_threads`, `thread_barrier`) a block may continue on another thread, so an image
 * must not keep the result of `current_block` or the address of a thread-local variable across it. The core returned by
 * `open_core` stays with the block. A wait that can never end fails the task. */
typedef struct CanopyServices {
    uint32_t version;
    uint32_t size; /* bytes of the device's version of this table */
    CanopyBlock* (*current_block)(void);
    void (*sync_all)(void);                         /* waits until every block of the launch has arrived */
    void (*trap)(void);                             /* ends the block with the device's trap code; does not return */
    void (*print)(const char* text, size_t length); /* appends to standard output, keeps lines whole */

    /* The core this block runs on, with the memory sizes of that architecture (2201, 3510, ...); sets `block->core`.
     * A second call returns the same core and clears its registers again. Fails the block if memory runs out. */
    CanopyCore* (*open_core)(uint32_t architecture);
    /* Ends the block and fails the task; the text becomes part of the error message. Does not return. */
    void (*fail)(const char* text, size_t length);
    /* Lets other blocks run. Call it in every loop that waits for another block. */
    void (*yield)(void);
    /* Waits until all blocks of the scope (a CanopySyncScope) have arrived. */
    void (*sync)(uint32_t scope);
    /* Cross-core flags: counters from 0 to CANOPY_FLAG_LIMIT, ids 0..15 for each mode (0..31 on the cube side of mode
     * 4). A wait decrements a counter of its core, waiting while it is 0. A set increments, by mode:
     *   0  the flag of all cores of the caller's kind, once each of them has set it
     *   1  the flag of the vector cores of the caller's group, once each of them has set it
     *   2  from the cube core: the flag of every vector core of the group; from a vector core: the flag of the cube
     *      core, once each vector core has set it
     *   4  from the cube core: with id 0..15 the flag of the first vector core, with 16..31 flag id - 16 of the second;
     *      from a vector core: flag id (first vector core) or id + 16 (second) of the cube core
     * For waits, modes 0, 1 and 2 share their ids, as on the chip; mode 4 has separate ids. Exceeding the limit fails
     * the block that sets the flag. */
    void (*set_flag)(uint32_t mode, uint32_t id);
    void (*wait_flag)(uint32_t mode, uint32_t id);
    /* SIMT: calls `body(data)` `count` times (at most CANOPY_MAX_THREADS), as threads that may use barriers. They
     * all run on the operating-system thread of the block, one at a time, and must not sync or wait for flags. Returns
     * when all have returned. */
    void (*run_threads)(void (*body)(void*), void* data, uint32_t count);
    uint32_t (*current_thread)(void); /* 0 .. count-1 inside run_threads, else 0 */
    /* Returns when the threads first .. first+count-1 of the block, including the caller, have called it or ended. */
    void (*thread_barrier)(uint32_t first, uint32_t count);
    /* One matrix product, on the calling thread. */
    void (*multiply)(const CanopyProduct* product);
    /* CPU kernels only: calls `function(data)` when the whole launch has ended, however it ended, before the stream
     * continues. The function must not wait. Any block may register any number of them. Returns not 0 on success. */
    uint32_t (*at_launch_end)(void (*function)(void*), void* data);
    /* Architecture 3510 and later: a core of the caller's group, to write into its memories. `core_type` is
     * CANOPY_CORE_CUBE or CANOPY_CORE_VECTOR, `sub_index` counts the cores of that kind. Null if the group has no such
     * core. It stays valid until all blocks of the group have ended, whether its own block runs or not. Flags order
     * such writes with those of its block. */
    CanopyCore* (*partner)(uint32_t core_type, uint32_t sub_index);
    /* Memory of the running block that belongs to `key`: at least `size` bytes at a multiple of `alignment`, which is a
     * power of two. The first call of a block for a key copies `size` bytes from `initial`, or sets them to 0 if that
     * is null. Later calls return the same memory, or move it if it must grow. The block must have opened its core. */
    void* (*block_memory)(const void* key, size_t size, size_t alignment, const void* initial);
} CanopyServices;

/* Entry function of a kernel: `arguments` is the argument block, with parameters at the offsets in the metadata. */
typedef void (*CanopyKernelEntry)(const void* arguments);

#ifdef __cplusplus
}
#endif

#endif
