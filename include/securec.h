/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded memory, string and format functions of libc_sec. Programs include this header and link with c_sec.
 *
 * Every function takes the size of its destination and fails instead of writing past the end. The errno_t functions
 * return EOK or one of the codes below; for codes that contain the flag 128 the destination has been reset (strings to
 * "", memory to zero). The format functions return the number of characters written, or -1. May be called from any
 * thread.
 */
#ifndef CANOPY_SECUREC_H
#define CANOPY_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef errno_t
typedef int errno_t;
#endif

#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#ifndef ERANGE
#define ERANGE 34
#endif
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#define EOVERLAP_AND_RESET 182

#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL

#define CANOPY_SECUREC_EXPORT __attribute__((visibility("default")))
#define CANOPY_SECUREC_FORMAT(text, first) __attribute__((__format__(__printf__, text, first)))

CANOPY_SECUREC_EXPORT errno_t memset_s(void* dest, size_t destMax, int c, size_t count);
CANOPY_SECUREC_EXPORT errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count);
CANOPY_SECUREC_EXPORT errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count);

CANOPY_SECUREC_EXPORT errno_t strcpy_s(char* strDest, size_t destMax, const char* strSrc);
CANOPY_SECUREC_EXPORT errno_t strncpy_s(char* strDest, size_t destMax, const char* strSrc, size_t count);
CANOPY_SECUREC_EXPORT errno_t strcat_s(char* strDest, size_t destMax, const char* strSrc);
CANOPY_SECUREC_EXPORT errno_t strncat_s(char* strDest, size_t destMax, const char* strSrc, size_t count);
CANOPY_SECUREC_EXPORT char* strtok_s(char* strToken, const char* strDelimit, char** context);

CANOPY_SECUREC_EXPORT int sprintf_s(char* strDest, size_t destMax, const char* format, ...) CANOPY_SECUREC_FORMAT(3, 4);
CANOPY_SECUREC_EXPORT int vsprintf_s(char* strDest, size_t destMax, const char* format, va_list argList)
    CANOPY_SECUREC_FORMAT(3, 0);
/* Writes at most `count` characters; a longer text is cut to `count` characters and returns -1. */
CANOPY_SECUREC_EXPORT int snprintf_s(char* strDest, size_t destMax, size_t count, const char* format, ...)
    CANOPY_SECUREC_FORMAT(4, 5);
CANOPY_SECUREC_EXPORT int vsnprintf_s(char* strDest, size_t destMax, size_t count, const char* format, va_list argList)
    CANOPY_SECUREC_FORMAT(4, 0);
/* The same, but returns the number of characters in the destination if the text is truncated. */
CANOPY_SECUREC_EXPORT int snprintf_truncated_s(char* strDest, size_t destMax, const char* format, ...)
    CANOPY_SECUREC_FORMAT(3, 4);
CANOPY_SECUREC_EXPORT int vsnprintf_truncated_s(char* strDest, size_t destMax, const char* format, va_list argList)
    CANOPY_SECUREC_FORMAT(3, 0);

CANOPY_SECUREC_EXPORT errno_t wmemcpy_s(wchar_t* dest, size_t destMax, const wchar_t* src, size_t count);
CANOPY_SECUREC_EXPORT errno_t wcscpy_s(wchar_t* strDest, size_t destMax, const wchar_t* strSrc);

#ifdef __cplusplus
}
#endif

#endif
