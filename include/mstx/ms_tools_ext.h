/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks and ranges that a program adds to its profile. Header only: nothing to link. No tool of this installation
 * records them, so marks have no effect; ranges and domains get ids that are unique in the process, and may be opened
 * and closed from any thread.
 */
#ifndef CANOPY_MSTX_MS_TOOLS_EXT_H
#define CANOPY_MSTX_MS_TOOLS_EXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1
#define MSTX_INVALID_RANGE_ID 0

typedef void* aclrtStream;

typedef uint64_t mstxRangeId;
struct mstxDomainRegistration_st;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;

/* The last range id: one counter for the whole process, shared by all files that include this header. */
__attribute__((weak, visibility("default"))) uint64_t canopy_mstx_last_range;

/* `stream` may be null. */
static inline void mstxMarkA(const char* message, aclrtStream stream) {
    (void)message;
    (void)stream;
}

/* Zero for a range without a message. */
static inline mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
    (void)stream;
    return message == NULL ? MSTX_INVALID_RANGE_ID : __atomic_add_fetch(&canopy_mstx_last_range, 1, __ATOMIC_RELAXED);
}

static inline void mstxRangeEnd(mstxRangeId id) { (void)id; }

/* Null for a domain without a name. */
static inline mstxDomainHandle_t mstxDomainCreateA(const char* name) {
    return name == NULL || *name == '\0' ? NULL : (mstxDomainHandle_t)malloc(1);
}

static inline void mstxDomainDestroy(mstxDomainHandle_t domain) { free(domain); }

static inline void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    (void)domain;
    mstxMarkA(message, stream);
}

static inline mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    return domain == NULL ? MSTX_INVALID_RANGE_ID : mstxRangeStartA(message, stream);
}

static inline void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
    (void)domain;
    mstxRangeEnd(id);
}

#ifdef __cplusplus
}
#endif

#endif
