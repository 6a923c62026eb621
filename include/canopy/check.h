/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that check parts of themselves, as `canopy check` checks whole ones, and read what was found: tests, say.
 * The Python module canopy is built on it. Functions return codes as those of acl.h do. Safe from any thread.
 */
#ifndef CANOPY_CHECK_H
#define CANOPY_CHECK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_CHECK_EXPORT __attribute__((visibility("default")))

/**
 * Prepares this process to be checked: `classes` and `options` are as CANOPY_CHECK and CANOPY_CHECK_OPTIONS have them,
 * and may be null. Nothing is printed, and the exit status stays. Fails once a device is open. Does nothing if the
 * process is checked already.
 */
CANOPY_CHECK_EXPORT int canopyCheckPrepare(const char* classes, const char* options);

/**
 * Begins to check launches inside, for as often as it is called. `position` receives the number of what was found
 * before. Fails if the process is not prepared.
 */
CANOPY_CHECK_EXPORT int canopyCheckBegin(uint64_t* position);

/** Ends what canopyCheckBegin began. Launches that are under way are checked to their end: synchronise first. */
CANOPY_CHECK_EXPORT int canopyCheckEnd(void);

/**
 * Returns what was found after a position: one line of JSON for each finding. The text stays valid until this thread
 * asks again.
 */
CANOPY_CHECK_EXPORT int canopyCheckGetFindings(uint64_t position, const char** lines);

#ifdef __cplusplus
}
#endif

#endif
