/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the checking code of a kernel image and a checker.
 *
 * Besides its code, an image may have one more target, "check": a shared object with the same kernels, which run as
 * usual and also tell a checker what they do: every operation with its operands, every flag, barrier, queue and
 * meeting. It exports `canopy_image_checker`, which is set before any of its kernels runs, and each call belongs to the
 * block that makes it. Texts are constants of the image. Plain C layout; structures only grow at their end.
 */
#ifndef CANOPY_KERNEL_CHECK_H
#define CANOPY_KERNEL_CHECK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_CHECK_TARGET "check"

/* A line of the user's source, and the call there. */
typedef struct CanopyCheckSite {
    const char* operation; /* "DataCopy"; null if the kind of event says it */
    const char* file;      /* null: not known */
    uint32_t line;
} CanopyCheckSite;

/* Pipes of a core. */
enum CanopyCheckPipe {
    CANOPY_CHECK_S = 0,
    CANOPY_CHECK_V = 1,
    CANOPY_CHECK_M = 2,
    CANOPY_CHECK_MTE1 = 3,
    CANOPY_CHECK_MTE2 = 4,
    CANOPY_CHECK_MTE3 = 5,
    CANOPY_CHECK_FIX = 6,
    CANOPY_CHECK_PIPES = 7,
    CANOPY_CHECK_ALL = 7 /* for barriers and meetings: every pipe */
};

enum CanopyCheckAccessKind {
    CANOPY_CHECK_READ = 1,
    CANOPY_CHECK_WRITE = 2,
    CANOPY_CHECK_READ_WRITE = 3,
    CANOPY_CHECK_ATOMIC_ACCESS = 4 /* added to the others, for `raw` only: past the scalar data cache */
};

/* How a write combines with what is there. */
enum CanopyCheckAtomic {
    CANOPY_CHECK_PLAIN = 0,
    CANOPY_CHECK_ATOMIC_ADD = 1,
    CANOPY_CHECK_ATOMIC_MAX = 2,
    CANOPY_CHECK_ATOMIC_MIN = 3
};

/* What one operand of an operation touches. Its walk has up to two steps: in each of `repeats` repeats, `repeat_step`
 * bytes apart, `pieces` pieces of `bytes` bytes, `step` bytes apart. With `lanes`, only the elements of a repeat whose
 * bit is set count: element i of a repeat is in piece i / (bytes / element), and bit i / lanes_per_bit selects it. */
typedef struct CanopyCheckAccess {
    const void* address;
    uint64_t bytes, step, repeat_step;
    uint32_t pieces, repeats;
    const uint64_t* lanes; /* two words, or null: all */
    uint8_t lanes_per_bit;
    uint8_t kind;         /* a CanopyCheckAccessKind */
    uint8_t memory;       /* a CanopyMemory */
    uint8_t atomic;       /* a CanopyCheckAtomic */
    uint16_t element;     /* bytes of an element; of packed ones 1 */
    uint8_t element_type; /* of atomic writes: the kernel language's ElementKind */
    /* Not 0: a load of a whole register. What it reads past the end of the buffer that it starts in is not used. */
    uint8_t whole_register;
    const char* operand;   /* "dst"; null: there is only one */
    const void* tensor;    /* first byte of the operand's tensor */
    uint64_t tensor_bytes; /* its size; 0: not known */
} CanopyCheckAccess;

/* What an operation does with bytes that nobody has written. */
enum CanopyCheckFlow {
    CANOPY_CHECK_CARRY = 0, /* results are unwritten where operands are; element i of each belongs together */
    CANOPY_CHECK_USE = 1,   /* results depend on all operands: reductions, products, offsets */
    CANOPY_CHECK_FILL = 2   /* results do not depend on the reads, or are counted as written */
};

enum CanopyCheckOperationFlags {
    /* A scalar access that the field's compiler orders by itself when it synchronises automatically. */
    CANOPY_CHECK_AUTO_ORDERED = 1u << 0,
    /* Past the scalar data cache (ReadGmByPassDCache and its like), or atomic. */
    CANOPY_CHECK_BYPASS = 1u << 1,
    /* Scalar accesses to global memory through raw pointers of the program. */
    CANOPY_CHECK_RAW = 1u << 2,
    /* Waits for V before and orders S and MTE3 after, as count forms of reductions do. */
    CANOPY_CHECK_RETURNS_SCALAR = 1u << 3,
    /* Products: the sums are added to what L0C holds. */
    CANOPY_CHECK_ACCUMULATES = 1u << 4,
    /* operator() of a tensor: nothing is accessed yet. The access through the reference comes next, by `raw`; if
     * CANOPY_CHECK_AUTO_ORDERED is set here too, it holds for that access. */
    CANOPY_CHECK_REFERENCE = 1u << 5
};

/* One instruction. */
typedef struct CanopyCheckOperation {
    CanopyCheckSite site;
    uint8_t pipe;      /* a CanopyCheckPipe */
    uint8_t flow;      /* a CanopyCheckFlow */
    uint8_t unit_flag; /* of Mmad and Fixpipe: 0, 2 or 3 */
    uint8_t reserved;
    uint32_t flags; /* CanopyCheckOperationFlags */
    uint32_t access_count;
    uint32_t m, n, k; /* of products, else 0 */
    const CanopyCheckAccess* accesses;
} CanopyCheckOperation;

/* Buffers of queues, and other parts of a core's memories. */
enum CanopyCheckBufferEvent {
    CANOPY_CHECK_BUFFER_INIT = 0, /* InitBuffer: `buffers` buffers of `bytes` bytes from `address` on */
    CANOPY_CHECK_BUFFER_ALLOCATE = 1,
    CANOPY_CHECK_BUFFER_ENQUEUE = 2,
    CANOPY_CHECK_BUFFER_DEQUEUE = 3,
    CANOPY_CHECK_BUFFER_FREE = 4,
    CANOPY_CHECK_BUFFER_FREE_EVENTS = 5, /* FreeAllEvent */
    CANOPY_CHECK_PIPE_INIT = 6,          /* TPipe::Init */
    CANOPY_CHECK_PIPE_RESET = 7,
    CANOPY_CHECK_PIPE_DESTROY = 8,
    CANOPY_CHECK_TENSOR_PLACED = 9 /* a tensor at an address that the program chose */
};

typedef struct CanopyCheckBuffer {
    CanopyCheckSite site;
    uint32_t event; /* a CanopyCheckBufferEvent */
    uint32_t buffers;
    const void* queue;           /* identifies the queue; null for a TBuf */
    const void* address;         /* of the buffer */
    uint64_t bytes;              /* of one buffer */
    int32_t depth;               /* of the queue */
    uint8_t source, destination; /* positions (TPosition) of the queue, or of EnQue and DeQue with positions */
    uint8_t memory;              /* a CanopyMemory */
    uint8_t bound;               /* not 0: a TQueBind, not a TQue */
} CanopyCheckBuffer;

enum CanopyCheckIdEvent { CANOPY_CHECK_ID_ALLOCATE = 0, CANOPY_CHECK_ID_RELEASE = 1, CANOPY_CHECK_ID_FETCH = 2 };

/* Flags between cores, and meetings of many. */
enum CanopyCheckMeeting {
    CANOPY_CHECK_MEET_HARDWARE = 0, /* SyncAll; `scope` is a CanopySyncScope */
    CANOPY_CHECK_MEET_SOFTWARE = 1  /* through global memory: SyncAll with a workspace */
};

/* A word in global memory by which blocks signal each other. */
enum CanopyCheckWord { CANOPY_CHECK_WORD_PUBLISH = 0, CANOPY_CHECK_WORD_TAKE = 1 };

enum CanopyCheckCacheEvent {
    CANOPY_CHECK_CACHE_CLEAN_LINE = 0, /* dcci of one line: written back and dropped */
    CANOPY_CHECK_CACHE_CLEAN_ALL = 1
};

enum CanopyCheckRegion {
    /* Everything until the end is one instruction of PIPE_V with the accesses reported with the beginning. */
    CANOPY_CHECK_REGION_CALL = 0,
    /* Accesses until the end belong to the language itself, and are not checked. */
    CANOPY_CHECK_REGION_INTERNAL = 1,
    /* Accesses through raw pointers until the end are made by SIMT threads, on PIPE_V. */
    CANOPY_CHECK_REGION_THREADS = 2
};

typedef struct CanopyChecker {
    uint32_t size; /* bytes of the checker's version of this table */
    uint32_t reserved;
    void (*operation)(const CanopyCheckOperation* operation);
    /* SetFlag, WaitFlag: pipes and id; `set` is 0 for a wait. A wait is told before the kernel waits. */
    void (*flag)(uint32_t set, uint32_t from, uint32_t to, int32_t id, const CanopyCheckSite* site);
    void (*barrier)(uint32_t pipe, const CanopyCheckSite* site);
    /* DataSyncBarrier: its kind as the language numbers it. */
    void (*data_barrier)(uint32_t kind, const CanopyCheckSite* site);
    void (*buffer)(const CanopyCheckBuffer* buffer);
    /* AllocEventID and its like; `id` is the one given or taken back, -1 if there was none. */
    void (*event_id)(uint32_t event, uint32_t from, uint32_t to, int32_t id, const CanopyCheckSite* site);
    void (*mutex)(uint32_t lock, uint32_t pipe, uint32_t id, const CanopyCheckSite* site);
    /* CrossCoreSetFlag before, CrossCoreWaitFlag after the service was called. */
    void (*core_flag)(uint32_t set, uint32_t mode, uint32_t pipe, uint32_t id, const CanopyCheckSite* site);
    /* Before and after a meeting; `trigger` and `wait` are the pipes that send and receive, usually all. */
    void (*meet)(uint32_t kind, uint32_t scope, uint32_t begin, uint32_t trigger, uint32_t wait,
                 const CanopyCheckSite* site);
    /* IBSet, IBWait, NotifyNextBlock, GroupBarrier and polled words: before publishing, after taking. */
    void (*word)(uint32_t event, const void* address, const CanopyCheckSite* site);
    void (*cache)(uint32_t event, const void* address, const CanopyCheckSite* site);
    /* A region begins (1) or ends (0). */
    void (*region)(uint32_t kind, uint32_t begin, const CanopyCheckOperation* operation);
    /* The kernel uses something that the checker does not model; reported once. */
    void (*not_modelled)(const char* what, const CanopyCheckSite* site);
    /* Parameters out of range or misaligned, or a flag that is set when the kernel has returned, after which the kernel
     * fails: id is "memory.limit", "memory.align" or "sync.set", the text says what. */
    void (*misuse)(const char* id, const char* text, const CanopyCheckSite* site);
    /* Before an access of `bytes` bytes through a raw pointer; the caller's return address gives the line. */
    void (*raw)(const void* address, uint32_t bytes, uint32_t kind, const void* instruction);
    /* A library call orders two pipes by itself: what was given to `from` is complete before `to` starts what comes
     * next. Either may be CANOPY_CHECK_ALL. */
    void (*order)(uint32_t from, uint32_t to, const CanopyCheckSite* site);
} CanopyChecker;

#ifdef __cplusplus
}
#endif

#endif
