/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines with a type (log_types.h); otherwise as in acl_log.h.
 */
#ifndef CANOPY_INCLUDE_BASE_ALOG_PUB_H
#define CANOPY_INCLUDE_BASE_ALOG_PUB_H

#include <stdint.h>

#include "log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** 0, or -1 if an argument is wrong. */
__attribute__((visibility("default"))) int32_t AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level,
                                                          const char* fmt, ...) __attribute__((format(printf, 4, 5)));
/** 1 if lines of that module and level are written, else 0. */
__attribute__((visibility("default"))) int32_t AlogCheckDebugLevel(uint32_t moduleId, int32_t level);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_BASE_ALOG_PUB_H */
