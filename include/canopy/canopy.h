/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Introspection functions that Canopy adds to the AscendCL interface. Plain C, exported by the runtime library.
 * Programs that must also run without Canopy look them up with dlsym.
 */
#ifndef CANOPY_CANOPY_H
#define CANOPY_CANOPY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_EXPORT __attribute__((visibility("default")))

/* Live handles by kind, and allocated bytes, in this process. For leak checks. */
typedef struct CanopyLiveObjects {
    uint64_t contexts;
    uint64_t streams;
    uint64_t events;
    uint64_t notifies;
    uint64_t binaries;
    uint64_t functions;
    uint64_t arguments;
    uint64_t other; /* physical memory, pools, registrations */
    uint64_t device_bytes;
    uint64_t host_bytes;
} CanopyLiveObjects;

CANOPY_EXPORT void canopyCountLiveObjects(CanopyLiveObjects* live);

/* The runtime's settings, devices and chips as JSON. Valid until the next call from the same thread. */
CANOPY_EXPORT const char* canopyDescribe(void);

/* Address of the number of captures in progress in this process, to be read with one atomic load. Code that must know
 * whether a launch was captured need not call aclmdlRICaptureGetInfo while the number is 0. Never null. */
CANOPY_EXPORT const uint32_t* canopyCapturesInProgress(void);

/* The number of items in a queue that this process created or attached to. Returns 0 or an aclError. */
CANOPY_EXPORT int canopyCountQueueItems(uint32_t queue, uint32_t* items);

/* Runs a block of a failed launch again, from a folder that CANOPY_DUMP_EXCEPTION left, in a process that has used no
 * device yet. `block`: its number, -1 for the one that failed, -2 for all. Returns 0 once it has run, whether it failed
 * or not, or an aclError; `*outcome` is JSON: place_taken (true: the memory's addresses are not free in this process,
 * nothing has run), kernel, block, blocks, recorded (the message of the failure), code and message of this run, same
 * (true: it failed in the same way), memory (when its contents were taken). Valid until the thread's next call. */
CANOPY_EXPORT int canopyReplay(const char* folder, int64_t block, const char** outcome);

#ifdef __cplusplus
}
#endif

#endif
