/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel binaries as programs register them themselves, argument blocks with pointers into themselves, attributes of
 * launches.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_KERNEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_KERNEL_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the bytes of an rtDevBinary_t are. */
#define RT_DEV_BINARY_MAGIC_ELF 0x43554245U        /**< kernels for AI cores */
#define RT_DEV_BINARY_MAGIC_ELF_AICPU 0x41415243U  /**< a shared object for the CPU cores */
#define RT_DEV_BINARY_MAGIC_ELF_AIVEC 0x41415246U  /**< kernels for vector cores */
#define RT_DEV_BINARY_MAGIC_ELF_AICUBE 0x41494343U /**< kernels for cube cores */

/** Flags of launches. */
#define RT_KERNEL_DEFAULT 0x00U
#define RT_KERNEL_CONVERT 0x01U
#define RT_KERNEL_DUMPFLAG 0x02U
#define RT_KERNEL_CUSTOM_AICPU 0x08U
#define RT_KERNEL_FFTSPLUS_DYNAMIC_SHAPE_DUMPFLAG 0x10U
#define RT_KERNEL_FFTSPLUS_STATIC_SHAPE_DUMPFLAG 0x20U
#define RT_KERNEL_CMDLIST_NOT_FREE 0x40U
#define RT_KERNEL_USE_SPECIAL_TIMEOUT 0x100U /**< the timeout of rtAicpuArgsEx_t applies */

/** The attributes of an older form of launch. */
typedef enum rtLaunchAttributeId {
    RT_LAUNCH_ATTRIBUTE_BLOCKDIM = 0,
    RT_LAUNCH_ATTRIBUTE_DYNAMIC_SHARE_MEM_SIZE = 1,
    RT_LAUNCH_ATTRIBUTE_DYN_UBUF_SIZE = 1, /**< another name of the one before */
    RT_LAUNCH_ATTRIBUTE_GROUP = 2,
    RT_LAUNCH_ATTRIBUTE_QOS = 3,
    RT_LAUNCH_ATTRIBUTE_PARTID = 4,
    RT_LAUNCH_ATTRIBUTE_SCHEMMODE = 5,
    RT_LAUNCH_ATTRIBUTE_BLOCKDIM_OFFSET = 6,
    RT_LAUNCH_ATTRIBUTE_DUMPFLAG = 7,
    RT_LAUNCH_ATTRIBUTE_MAX = 8
} rtLaunchAttributeId_t;

/** The kind of core that runs a kernel which could run on both. */
typedef enum rtEngineType { RT_ENGINE_TYPE_AIC = 0, RT_ENGINE_TYPE_AIV = 1 } rtEngineType;

/** The attributes of a launch; the numbers of aclrtLaunchKernelAttrId. */
typedef enum rtLaunchKernelAttrId {
    RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
    RT_LAUNCH_KERNEL_ATTR_LOCAL_MEM_SIZE = 2,
    RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2, /**< another name of the one before */
    RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
    RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
    RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
    RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
    RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,    /**< seconds */
    RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8, /**< microseconds; not together with the one before */
    RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9,
    RT_LAUNCH_KERNEL_ATTR_MAX = 10
} rtLaunchKernelAttrId;

/** Microseconds in two halves. */
typedef struct rtTimeoutUs {
    uint32_t timeoutLow;
    uint32_t timeoutHigh;
} rtTimeoutUs;

/** The value of an attribute. */
typedef union rtLaunchKernelAttrVal {
    uint8_t schemMode;
    uint32_t localMemorySize;
    uint32_t dynUBufSize;
    rtEngineType engineType;
    uint32_t blockDimOffset;
    uint8_t isBlockTaskPrefetch;
    uint8_t isDataDump;
    uint16_t timeout;
    rtTimeoutUs timeoutUs;
    uint8_t enableProfiling;
    uint32_t rsv[4];
} rtLaunchKernelAttrVal_t;

/** One attribute of a launch; laid out as aclrtLaunchKernelAttr. */
typedef struct rtLaunchKernelAttr {
    rtLaunchKernelAttrId id;
    rtLaunchKernelAttrVal_t value;
} rtLaunchKernelAttr_t;

/** The attributes of a launch; laid out as aclrtLaunchKernelCfg. */
typedef struct rtKernelLaunchCfg {
    rtLaunchKernelAttr_t* attrs;
    size_t numAttrs;
} rtKernelLaunchCfg_t;

/** A kernel binary in memory. */
typedef struct tagRtDevBinary {
    uint32_t magic;   /**< RT_DEV_BINARY_MAGIC_* */
    uint32_t version; /**< ignored */
    const void* data; /**< copied before the call returns */
    uint64_t length;
} rtDevBinary_t;

/** A pointer inside an argument block: the address of `dataOffset` on the device is written at `addrOffset`. */
typedef struct rtHostInputInfo {
    uint32_t addrOffset;
    uint32_t dataOffset;
} rtHostInputInfo_t;

/** An argument block with pointers into itself. */
typedef struct tagRtArgsEx {
    void* args;
    rtHostInputInfo_t* hostInputInfoPtr;
    uint32_t argsSize;
    uint32_t tilingAddrOffset; /**< one more such pointer, if `hasTiling` is set */
    uint32_t tilingDataOffset;
    uint16_t hostInputInfoNum;
    uint8_t hasTiling;
    uint8_t isNoNeedH2DCopy; /**< not 0: `args` is device memory and is used in place */
    uint8_t reserved[4];
} rtArgsEx_t;

/** An argument block for a kernel of the CPU cores. */
typedef struct tagRtAicpuArgsEx {
    void* args;
    rtHostInputInfo_t* hostInputInfoPtr;
    rtHostInputInfo_t* kernelOffsetInfoPtr;
    uint32_t argsSize;
    uint16_t hostInputInfoNum;
    uint16_t kernelOffsetInfoNum;
    uint32_t soNameAddrOffset;     /**< offset of the shared object's name in the block */
    uint32_t kernelNameAddrOffset; /**< offset of the function's name in the block */
    bool isNoNeedH2DCopy;          /**< `args` is device memory and is used in place */
    uint16_t timeout;              /**< seconds, with RT_KERNEL_USE_SPECIAL_TIMEOUT; 0xFFFF: never */
    uint8_t reserved;
} rtAicpuArgsEx_t;

/** A piece of memory that a launch may want near the cores. */
typedef struct tagRtSmData {
    uint64_t L2_mirror_addr;
    uint32_t L2_data_section_size;
    uint8_t L2_preload;
    uint8_t modified;
    uint8_t priority;
    int8_t prev_L2_page_offset_base;
    uint8_t L2_page_offset_base;
    uint8_t L2_load_to_ddr;
    uint8_t reserved[2];
} rtSmData_t;

/** Cache hints for a launch; accepted but ignored. */
typedef struct tagRtSmCtrl {
    rtSmData_t data[8];
    uint64_t size;
    uint8_t remap[64];
    uint8_t l2_in_main;
    uint8_t reserved[3];
} rtSmDesc_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: kernels of registered binaries
 * ------------------------------------------------------------------------------------------------------------ */

/** Registers a binary with all its kernels, which are then launched by their keys (rtKernelLaunchWithHandleV2). */
RTS_API rtError_t rtRegisterAllKernel(const rtDevBinary_t* bin, void** hdl);

/** Returns what must be added to an address to go past the L2 cache: 0, as all cores see the same memory. */
RTS_API rtError_t rtGetL2CacheOffset(uint32_t deviceId, uint64_t* offset);

/** Launches a kernel on the CPU cores whose names stand in its argument block. `kernelType` is an rtKernelType_t. */
RTS_API rtError_t rtAicpuKernelLaunchExWithArgs(const uint32_t kernelType, const char_t* const opName,
                                                const uint32_t numBlocks, const rtAicpuArgsEx_t* argsInfo,
                                                rtSmDesc_t* const smDesc, const rtStream_t stm, const uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_KERNEL_H */
