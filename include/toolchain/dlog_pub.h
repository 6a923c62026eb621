/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The older names of the functions in base/acl_log.h.
 */
#ifndef CANOPY_INCLUDE_TOOLCHAIN_DLOG_PUB_H
#define CANOPY_INCLUDE_TOOLCHAIN_DLOG_PUB_H

#include <stdarg.h>
#include <stdint.h>

#include "../base/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DLOG_VISIBILITY __attribute__((visibility("default")))

DLOG_VISIBILITY void DlogRecord(int32_t moduleId, int32_t level, const char* fmt, ...)
    __attribute__((format(printf, 3, 4)));
DLOG_VISIBILITY void DlogVaList(int32_t moduleId, int32_t level, const char* fmt, va_list list);
/** Does nothing: every line is written at once. */
DLOG_VISIBILITY void DlogFlush(void);
/** 1 if lines of that module and level are written, else 0. */
DLOG_VISIBILITY int32_t CheckLogLevel(int32_t moduleId, int32_t logLevel);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_TOOLCHAIN_DLOG_PUB_H */
