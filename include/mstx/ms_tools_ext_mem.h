/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a program's own allocators hand out, for tools. See ms_tools_ext.h; the tool of this installation gives
 * handles and shows nothing of them.
 */
#ifndef CANOPY_MSTX_MS_TOOLS_EXT_MEM_H
#define CANOPY_MSTX_MS_TOOLS_EXT_MEM_H

#include "ms_tools_ext.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mstxMemHeapUsageType { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 0 } mstxMemHeapUsageType;
typedef enum mstxMemType { MSTX_MEM_TYPE_VIRTUAL_ADDRESS = 0 } mstxMemType;
typedef enum mstxMemRegionRefType {
    MSTX_MEM_REGION_REF_TYPE_POINTER = 0,
    MSTX_MEM_REGION_REF_TYPE_HANDLE = 1
} mstxMemRegionRefType;

struct mstxMemHeap_st;
typedef struct mstxMemHeap_st mstxMemHeap_t;
typedef mstxMemHeap_t* mstxMemHeapHandle_t;
struct mstxMemRegion_st;
typedef struct mstxMemRegion_st mstxMemRegion_t;
typedef mstxMemRegion_t* mstxMemRegionHandle_t;

typedef struct mstxMemVirtualRangeDesc_t {
    uint32_t deviceId;
    const void* ptr;
    uint64_t size;
} mstxMemVirtualRangeDesc_t;

typedef struct mstxMemHeapDesc_t {
    mstxMemHeapUsageType usage;
    mstxMemType type;
    const void* typeSpecificDesc; /**< mstxMemVirtualRangeDesc_t */
} mstxMemHeapDesc_t;

typedef struct mstxMemRegionsRegisterBatch_t {
    mstxMemHeapHandle_t heap;
    mstxMemType regionType;
    size_t regionCount;
    const void* regionDescArray;
    mstxMemRegionHandle_t* regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;

typedef struct mstxMemRegionRef_t {
    mstxMemRegionRefType refType;
    union {
        const void* pointer;
        mstxMemRegionHandle_t handle;
    };
} mstxMemRegionRef_t;

typedef struct mstxMemRegionsUnregisterBatch_t {
    size_t refCount;
    const mstxMemRegionRef_t* refArray;
} mstxMemRegionsUnregisterBatch_t;

/** Registers memory that an allocator divides. */
CANOPY_MSTX_FUNCTION mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, const mstxMemHeapDesc_t* desc);

/** Ends the registration of a heap and of its regions. */
CANOPY_MSTX_FUNCTION void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);

/** Registers regions that an allocator has handed out. */
CANOPY_MSTX_FUNCTION void mstxMemRegionsRegister(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t* desc);

/** Ends the registration of regions. */
CANOPY_MSTX_FUNCTION void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                                   const mstxMemRegionsUnregisterBatch_t* desc);

#ifndef MSTX_NO_IMPL
static inline mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, const mstxMemHeapDesc_t* desc) {
    typedef mstxMemHeapHandle_t (*Function)(mstxDomainHandle_t, const mstxMemHeapDesc_t*);
    const Function function = (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_MEM, MSTX_API_CORE_MEMHEAP_REGISTER);
    return function == NULL ? NULL : function(domain, desc);
}

static inline void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap) {
    typedef void (*Function)(mstxDomainHandle_t, mstxMemHeapHandle_t);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_MEM, MSTX_API_CORE_MEMHEAP_UNREGISTER);
    if (function != NULL) function(domain, heap);
}

static inline void mstxMemRegionsRegister(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t* desc) {
    typedef void (*Function)(mstxDomainHandle_t, const mstxMemRegionsRegisterBatch_t*);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_MEM, MSTX_API_CORE_MEM_REGIONS_REGISTER);
    if (function != NULL) function(domain, desc);
}

static inline void mstxMemRegionsUnregister(mstxDomainHandle_t domain, const mstxMemRegionsUnregisterBatch_t* desc) {
    typedef void (*Function)(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*);
    const Function function =
        (Function)canopy_mstx_function(MSTX_API_MODULE_CORE_MEM, MSTX_API_CORE_MEM_REGIONS_UNREGISTER);
    if (function != NULL) function(domain, desc);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
