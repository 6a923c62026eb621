/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Canopy offers beside the AscendCL interface: looking at itself. Plain C, exported by the runtime library.
 * Programs that must also run elsewhere look these functions up with dlsym.
 */
#ifndef CANOPY_CANOPY_H
#define CANOPY_CANOPY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_EXPORT __attribute__((visibility("default")))

/* What is alive in this process: handles by kind, and bytes. For leak checks. */
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

/* The runtime's settings, devices and chips as JSON text. Valid until the next call from the same thread. */
CANOPY_EXPORT const char* canopyDescribe(void);

#ifdef __cplusplus
}
#endif

#endif
