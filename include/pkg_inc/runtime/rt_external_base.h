/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base of the lower runtime interface: its error type, its handles and a few types that every other header uses.
 * Functions of this interface return what those of acl/acl_rt.h return, with two differences: a null pointer where one
 * is required gives 107000, and a busy stream is an error code, not a status.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_BASE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a function that the library exports. */
#ifndef RTS_API
#define RTS_API __attribute__((visibility("default")))
#endif

/** 0, or one of the numbers of acl/error_codes/rt_error_codes.h. */
typedef int32_t rtError_t;

/** A character of a name or a path. */
typedef char char_t;

/** Success. */
static const int32_t RT_ERROR_NONE = 0;

/** A queue of device work; the same handle as an aclrtStream. Null names the default stream of the current context. */
typedef void* rtStream_t;

/** A graph of recorded tasks; the same handle as an aclmdlRI. */
typedef void* rtModel_t;

/** A loaded kernel binary; the same handle as an aclrtBinHandle. */
typedef void* rtBinHandle;

/** A function of a binary; the same handle as an aclrtFuncHandle. */
typedef void* rtFuncHandle;

/** A list of kernel arguments; the same handle as an aclrtArgsHandle. */
typedef void* rtArgsHandle;

/** One argument of a list; the same handle as an aclrtParamHandle. */
typedef void* rtParaHandle;

/** Host code that a stream runs. */
typedef void (*rtCallback_t)(void* fnData);

/** Whether one device is one die or several. */
typedef enum tagRtDeviceMode {
    RT_DEVICE_MODE_SINGLE_DIE = 0,
    RT_DEVICE_MODE_MULTI_DIE = 1,
    RT_DEVICE_MODE_RESERVED = 2
} rtDeviceMode;

/** The health of a device. */
typedef enum tagRtDeviceStatus {
    RT_DEVICE_STATUS_NORMAL = 0,
    RT_DEVICE_STATUS_ABNORMAL = 1,
    RT_DEVICE_STATUS_END = 0xFFFF
} rtDeviceStatus;

/** Which streams a list of streams names. */
typedef enum tagRtStreamlistType { RT_STREAM_TYPE_MAX = 1 } rtStreamlistType_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: facts about the chip
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Writes a fact about the chip as text. `label` is a section ("version", "SoCInfo", "AICoreSpec"), `key` a word of it
 * ("Short_SoC_version", "ai_core_cnt", "ub_size"). An unknown word, or a `maxLen` that is too small, gives 107000.
 */
RTS_API rtError_t rtGetSocSpec(const char* label, const char* key, char* val, const uint32_t maxLen);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_BASE_H */
