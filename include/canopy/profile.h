/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of a program by itself: record a part of it, then read what happened as tables of C structures. The Python
 * module canopy is built on it. Functions return codes as those of acl.h do. Safe from any thread; a profile is used by
 * one thread at a time.
 */
#ifndef CANOPY_PROFILE_H
#define CANOPY_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_PROFILE_EXPORT __attribute__((visibility("default")))

/* What is recorded; or-ed. */
#define CANOPY_PROFILE_CALLS 0x1u
#define CANOPY_PROFILE_TASKS 0x2u
#define CANOPY_PROFILE_NODES 0x4u /* tasks of graphs that are replayed */
#define CANOPY_PROFILE_BLOCKS 0x8u
#define CANOPY_PROFILE_MEMORY 0x10u
#define CANOPY_PROFILE_MARKS 0x20u
#define CANOPY_PROFILE_IDLE 0x40u
#define CANOPY_PROFILE_STEPS 0x80u
#define CANOPY_PROFILE_EVERYTHING 0xFFu

typedef struct canopyProfile canopyProfile;

/**
 * Begins to record into the file `path`, which is replaced; null: a temporary file that canopyProfileClose removes. If
 * the process exits first, the file is completed, and a temporary one removed.
 */
CANOPY_PROFILE_EXPORT int canopyProfileStart(const char* path, uint32_t want, canopyProfile** profile);

/** Ends recording; afterwards the profile can be read. */
CANOPY_PROFILE_EXPORT int canopyProfileStop(canopyProfile* profile);

/** Opens the file of a profile to read it. */
CANOPY_PROFILE_EXPORT int canopyProfileOpen(const char* path, canopyProfile** profile);

/** Ends recording if it runs, and forgets the profile with its tables. */
CANOPY_PROFILE_EXPORT int canopyProfileClose(canopyProfile* profile);

/**
 * Writes the profile to `path`: by the ending, .html the page, .json or .json.gz the trace, .canopyprof the profile
 * itself. The path of a folder gets a result folder in it.
 */
CANOPY_PROFILE_EXPORT int canopyProfileExport(canopyProfile* profile, const char* path);

/* ---- tables -------------------------------------------------------------------------------------------------------
 */

/* Times are nanoseconds since the profile began; a name is the number of a text. Rows are in the order of their starts.
 */
typedef struct canopyProfileCall {
    double start, duration;
    uint32_t name, thread;
    int32_t code;
    uint32_t tasks;        /* submitted by the call */
    uint32_t stream, task; /* of the last one */
} canopyProfileCall;

typedef struct canopyProfileTask {
    double start, duration;
    double submitted; /* when its call began; not a number: not known */
    uint32_t name, type;
    uint32_t stream, task;
    uint32_t device, core; /* core: 0 none, 1 cube, 2 vector, 3 both, 4 CPU */
    uint32_t blocks;
    uint32_t flags;     /* 1 failed, 2 dropped, 4 fused, 8 a kernel of the runtime */
    uint64_t waits_for; /* of a wait: the number of the event or notify */
    uint32_t released_by_stream, released_by_task;
    int32_t code;
    uint32_t graph_task; /* 1: a task of the graph that `stream` and `task` replay */
    uint32_t lane, position;
} canopyProfileTask;

typedef struct canopyProfileCopy {
    double start, duration;
    uint64_t bytes;
    uint32_t kind; /* 1 host to host, 2 to device, 3 to host, 4 on a device, 5 between devices */
    uint32_t device, stream, task;
} canopyProfileCopy;

typedef struct canopyProfileBlock {
    double start, duration;
    uint32_t stream, task;
    uint32_t block, piece;
    uint32_t thread, vector_core;
} canopyProfileBlock;

typedef struct canopyProfileMark {
    double start, duration;
    uint32_t text, domain;
    uint32_t form;      /* 0 moment, 1 pushed, 2 range, 3 moment on a stream */
    uint32_t source;    /* 0 stamp, 1 mstx, 2 Canopy */
    uint32_t on_device; /* 1: when the stream came to it */
    uint32_t category;
    uint32_t thread, reserved;
    uint64_t number; /* the same in both halves of a mark */
} canopyProfileMark;

typedef struct canopyProfileMemory {
    double start;
    uint64_t size, in_use;
    uint32_t name, device;
    int32_t change; /* 1 allocated, -1 freed */
    uint32_t thread;
} canopyProfileMemory;

typedef struct canopyProfileStep {
    double start;
    uint32_t number;
    uint32_t form; /* 0 start, 1 end, 2 trace point */
    uint32_t tag, device, stream, task;
    uint64_t model;
} canopyProfileStep;

typedef struct canopyProfileThread {
    uint32_t number, system_id;
    uint32_t role; /* 0 host, 1 worker, 2 CPU core, 3 runtime */
    uint32_t index;
    uint32_t name, reserved;
    uint64_t lost; /* records that found no room */
} canopyProfileThread;

typedef enum canopyProfileTable {
    CANOPY_PROFILE_TABLE_CALLS = 0,
    CANOPY_PROFILE_TABLE_TASKS = 1,
    CANOPY_PROFILE_TABLE_COPIES = 2,
    CANOPY_PROFILE_TABLE_BLOCKS = 3,
    CANOPY_PROFILE_TABLE_MARKS = 4,
    CANOPY_PROFILE_TABLE_MEMORY = 5,
    CANOPY_PROFILE_TABLE_STEPS = 6,
    CANOPY_PROFILE_TABLE_THREADS = 7
} canopyProfileTable;

/** Returns the rows of a table, which stay valid until the profile is closed, their size in bytes and their number. */
CANOPY_PROFILE_EXPORT int canopyProfileRows(canopyProfile* profile, canopyProfileTable table, const void** rows,
                                            size_t* size, size_t* count);

/** Returns the number of texts. */
CANOPY_PROFILE_EXPORT int canopyProfileTextCount(canopyProfile* profile, size_t* count);

/** Returns a text, which stays valid until the profile is closed. */
CANOPY_PROFILE_EXPORT int canopyProfileText(canopyProfile* profile, size_t number, const char** text);

typedef struct canopyProfileFacts {
    int64_t began;      /* unix time in nanoseconds */
    uint64_t records;   /* in the file */
    uint64_t lost;      /* records of all threads that found no room */
    const char* damage; /* why the file ends early; empty if it does not */
} canopyProfileFacts;

/** Returns facts about the whole profile. */
CANOPY_PROFILE_EXPORT int canopyProfileGetFacts(canopyProfile* profile, canopyProfileFacts* facts);

/* ---- marks, which cost next to nothing while no profile asks for them ---------------------------------------------
 */

/** Notes one moment. */
CANOPY_PROFILE_EXPORT void canopyMark(const char* text);

/** Opens a range of this thread. */
CANOPY_PROFILE_EXPORT void canopyRangePush(const char* text);

/** Closes the range that this thread opened last. */
CANOPY_PROFILE_EXPORT int canopyRangePop(void);

#ifdef __cplusplus
}
#endif

#endif
