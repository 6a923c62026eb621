/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of programs in the process's log, and callbacks that get every line. `moduleId` is a number of log_types.h, or
 * one from 0xff00 to 0xffff that the program chooses; `level` is DLOG_DEBUG to DLOG_ERROR. `fmt` and what follows are
 * as for printf; a line holds at most 1,024 bytes. Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_BASE_ACL_LOG_H
#define CANOPY_INCLUDE_BASE_ACL_LOG_H

#include <stdarg.h>
#include <stdint.h>

#include "log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_LOG_VISIBILITY __attribute__((visibility("default")))

/** Writes a line if lines of that module and level are written. */
ACL_LOG_VISIBILITY void acllogRecord(int32_t moduleId, int32_t level, const char* fmt, ...)
    __attribute__((format(printf, 3, 4)));
ACL_LOG_VISIBILITY void acllogVaList(int32_t moduleId, int32_t level, const char* fmt, va_list list);

/** 1 if lines of that module and level are written, else 0. */
ACL_LOG_VISIBILITY int32_t acllogCheckDebugLevel(int32_t moduleId, int32_t logLevel);

/** Which lines a callback gets. */
typedef enum { OUTPUT_TYPE_DEBUG = 0, OUTPUT_TYPE_RUN = 1, OUTPUT_TYPE_BOTH = 2 } acllogOutputLogType;

/** Gets a line, without its end, and the pointer it was registered with. Lines that it writes itself are dropped. */
typedef void (*acllogRecordCallback)(int32_t moduleId, int32_t level, const char* text, uint32_t length,
                                     void* userData);
typedef void* acllogCallbackHandle;

/** At most 16 at a time. -1 if an argument is wrong or there are too many. */
ACL_LOG_VISIBILITY int32_t acllogRegisterCallback(acllogRecordCallback callbackFunc, void* userData,
                                                  uint32_t outputLogType, acllogCallbackHandle* callbackHandle);
/** When it returns, the callback is not running in other threads. -1 if there is no such callback. */
ACL_LOG_VISIBILITY int32_t acllogUnregisterCallback(acllogCallbackHandle callback);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_BASE_ACL_LOG_H */
