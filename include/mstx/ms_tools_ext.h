/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks and ranges that a program adds to its profile. Header only, nothing to link: the functions find a tool that
 * records them, the library that MSTX_INJECTION_PATH names or one that is in the process already (the runtime of
 * Canopy, also if the program opens it later). Without a tool, and while it records nothing, marks have no effect,
 * ranges are 0 and domains null.
 *
 * With MSTX_NO_IMPL the functions are only declared; link ms_tools_ext. Safe from any thread.
 */
#ifndef CANOPY_MSTX_MS_TOOLS_EXT_H
#define CANOPY_MSTX_MS_TOOLS_EXT_H

#include <stddef.h>
#include <stdint.h>
#ifndef MSTX_NO_IMPL
#include <dlfcn.h>
#include <stdlib.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1
#define MSTX_INVALID_RANGE_ID 0

/* The tools that mstxGetToolId names. */
#define MSTX_TOOL_INVALID_ID 0x0
#define MSTX_TOOL_MSPROF_ID 0x1000
#define MSTX_TOOL_MSOPPROF_ID 0x1001
#define MSTX_TOOL_MSSANITIZER_ID 0x1002
#define MSTX_TOOL_MSLEAKS_ID 0x1003

typedef void* aclrtStream;

typedef uint64_t mstxRangeId;
struct mstxDomainRegistration_st;
typedef struct mstxDomainRegistration_st mstxDomainRegistration_t;
typedef mstxDomainRegistration_t* mstxDomainHandle_t;

/* ---- for tools ----------------------------------------------------------------------------------------------------
 *
 * A tool exports InitInjectionMstx. It asks for the table of each module, in which entry n is the address of the
 * pointer to the function with number n, and stores its own functions there.
 */
typedef enum mstxFuncModule {
    MSTX_API_MODULE_INVALID = 0,
    MSTX_API_MODULE_CORE = 1,
    MSTX_API_MODULE_CORE_DOMAIN = 2,
    MSTX_API_MODULE_CORE_MEM = 3,
    MSTX_API_MODULE_SIZE,
    MSTX_API_MODULE_FORCE_INT = 0x7fffffff
} mstxFuncModule;

typedef enum mstxImplCoreFuncId {
    MSTX_API_CORE_INVALID = 0,
    MSTX_API_CORE_MARK_A = 1,
    MSTX_API_CORE_RANGE_START_A = 2,
    MSTX_API_CORE_RANGE_END = 3,
    MSTX_API_CORE_GET_TOOL_ID = 4,
    MSTX_API_CORE_SIZE,
    MSTX_API_CORE_FORCE_INT = 0x7fffffff
} mstxImplCoreFuncId;

typedef enum mstxImplCoreDomainFuncId {
    MSTX_API_CORE2_INVALID = 0,
    MSTX_API_CORE2_DOMAIN_CREATE_A = 1,
    MSTX_API_CORE2_DOMAIN_DESTROY = 2,
    MSTX_API_CORE2_DOMAIN_MARK_A = 3,
    MSTX_API_CORE2_DOMAIN_RANGE_START_A = 4,
    MSTX_API_CORE2_DOMAIN_RANGE_END = 5,
    MSTX_API_CORE2_SIZE,
    MSTX_API_CORE2_FORCE_INT = 0x7fffffff
} mstxImplCoreDomainFuncId;

typedef enum mstxImplCoreMemFuncId {
    MSTX_API_CORE_MEM_INVALID = 0,
    MSTX_API_CORE_MEMHEAP_REGISTER = 1,
    MSTX_API_CORE_MEMHEAP_UNREGISTER = 2,
    MSTX_API_CORE_MEM_REGIONS_REGISTER = 3,
    MSTX_API_CORE_MEM_REGIONS_UNREGISTER = 4,
    MSTX_API_CORE_MEM_SIZE,
    MSTX_API_CORE_MEM_FORCE_INT = 0x7fffffff
} mstxImplCoreMemFuncId;

typedef void (*mstxFuncPointer)(void);
typedef mstxFuncPointer** mstxFuncTable;
typedef int (*mstxGetModuleFuncTableFunc)(int module, mstxFuncTable* outTable, unsigned int* outSize);
typedef int (*mstxInitInjectionFunc)(mstxGetModuleFuncTableFunc getTable);

#ifdef MSTX_NO_IMPL
#define CANOPY_MSTX_FUNCTION extern
#else
#define CANOPY_MSTX_FUNCTION static inline __attribute__((unused))
#endif

/* ---- the functions ------------------------------------------------------------------------------------------------
 *
 * A message has 1 to 156 bytes and does not begin with = + - or @. With a stream, the stream writes the same when it
 * comes to it; null: only the host does.
 */

/** Notes one moment. */
CANOPY_MSTX_FUNCTION void mstxMarkA(const char* message, aclrtStream stream);

/** Opens a range, which any thread may close. */
CANOPY_MSTX_FUNCTION mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);

/** Closes a range of the default domain. */
CANOPY_MSTX_FUNCTION void mstxRangeEnd(mstxRangeId id);

/** Returns which tool records. */
CANOPY_MSTX_FUNCTION void mstxGetToolId(uint64_t* id);

/** Creates a domain: a name for marks and ranges that belong together, below 1,024 bytes. */
CANOPY_MSTX_FUNCTION mstxDomainHandle_t mstxDomainCreateA(const char* name);

/** Destroys a domain. */
CANOPY_MSTX_FUNCTION void mstxDomainDestroy(mstxDomainHandle_t domain);

/** Notes one moment of a domain. */
CANOPY_MSTX_FUNCTION void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream);

/** Opens a range of a domain. */
CANOPY_MSTX_FUNCTION mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                       aclrtStream stream);

/** Closes a range of this domain. */
CANOPY_MSTX_FUNCTION void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

#ifndef MSTX_NO_IMPL
#include "ms_tools_ext_impl.h"
#endif

#ifdef __cplusplus
}
#endif

#endif
