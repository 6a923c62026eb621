/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of tasks, and information about failed tasks. An rtExceptionInfo_t is the aclrtExceptionInfo that
 * callbacks get; it and everything it points to is valid during the callback.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_BASE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_BASE_H

#include "../rt_external_base.h"
#include "../rt_external_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which calls are forbidden during a capture. */
typedef enum tagRtStreamCaptureMode {
    RT_STREAM_CAPTURE_MODE_GLOBAL = 0,
    RT_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    RT_STREAM_CAPTURE_MODE_RELAXED = 2,
    RT_STREAM_CAPTURE_MODE_MAX = 3
} rtStreamCaptureMode;

/** Progress of aborting a device's tasks. */
typedef enum rtTaskAbortStage {
    RT_DEVICE_ABORT = 0,
    RT_DEVICE_KILL = 1,
    RT_DEVICE_CLEAN = 2,
    RT_DEVICE_ABORT_PRE = 3,
    RT_DEVICE_ABORT_POST = 4
} rtTaskAbortStage_t;

/** How a task runs; a null pointer or zeros mean the defaults. */
typedef struct tagRtTaskCfgInfo {
    uint8_t qos;             /**< not used */
    uint8_t partId;          /**< not used */
    uint8_t schemMode;       /**< 1: all blocks run at the same time */
    bool d2dCrossFlag;       /**< not used */
    uint32_t blockDimOffset; /**< index of the first block */
    uint8_t dumpflag;
    uint8_t neverTimeout; /**< 1: the task has no time limit */
    uint8_t enableProfiling;
    uint8_t rev;
    uint32_t localMemorySize; /**< bytes of local memory beyond what the kernel declares */
} rtTaskCfgInfo_t;

/** What a failed task's arguments hold besides the parameters. */
typedef struct rtArgsSizeInfo {
    void* infoAddr;
    uint32_t atomicIndex;
} rtArgsSizeInfo_t;

/** The kernel of a failed task. */
typedef struct rtExceptionKernelInfo {
    uint32_t binSize; /**< bytes of code */
    rtBinHandle bin;
    uint32_t kernelNameSize;
    const char* kernelName;
    const void* dfxAddr;
    uint16_t dfxSize;
    uint8_t reserved[2];
    int32_t elfDataFlag;
} rtExceptionKernelInfo_t;

/** The arguments of a failed task, and its kernel. */
typedef struct rtExceptionArgsInfo {
    uint32_t argsize;
    void* argAddr;
    rtArgsSizeInfo_t sizeInfo;
    rtExceptionKernelInfo_t exceptionKernelInfo;
} rtExceptionArgsInfo_t;

/** A failed part of a fused task. */
typedef struct rtFftsPlusExDetailInfo {
    uint16_t contextId;
    uint16_t threadId;
    rtExceptionArgsInfo_t exceptionArgs;
} rtFftsPlusExDetailInfo_t;

/** Which engine of the bus failed. */
typedef enum rtUbExType { RT_UB_TYPE_DOORBELL = 0, RT_UB_TYPE_DIRECT_WQE = 1, RT_UB_TYPE_MAX = 2 } rtUbExType_t;

/** A queue of the bus. */
typedef struct rtUbInfo {
    uint8_t functionId;
    uint8_t dieId;
    uint16_t jettyId;
    uint16_t piValue;
} rtUbInfo_t;

/** A failed transfer over the bus. */
typedef struct rtUbExDetailInfo {
    rtUbExType_t ubType;
    uint8_t ubNum;
    uint8_t resv[3];
    rtUbInfo_t info[4];
} rtUbExDetailInfo_t;

/** A failed program of a communication unit. */
typedef struct rtCCUExDetailInfo {
    uint8_t dieId;
    uint8_t missionId;
    uint16_t instrId;
    uint64_t args[13];
    uint8_t status;
    uint8_t subStatus;
    uint8_t panicLog[128];
} rtCcuMissionDetailInfo_t;

/** Failed programs of communication units. */
typedef struct rtMultiCCUExDetailInfo {
    uint16_t ccuMissionNum;
    rtCcuMissionDetailInfo_t missionInfo[8];
} rtMultiCCUExDetailInfo_t;

/** A failed kernel of the AI cores. */
typedef struct rtAicoreExDetailInfo {
    rtExceptionArgsInfo_t exceptionArgs;
} rtAicoreExDetailInfo_t;

/** A failed kernel of the CPU cores. */
typedef struct rtAicpuExDetailInfo {
    rtFuncHandle funcHandle;
    const char* soName;
    const char* functionName;
    const char* kernelName;
    void* argAddr;
    uint32_t argsize;
} rtAicpuExDetailInfo_t;

/** What a fused task is made of. */
typedef enum rtFusionType { RT_FUSION_AICORE_CCU = 0, RT_FUSION_MAX = 1 } rtFusionExType_t;

/** A failed task of AI cores and communication units. */
typedef struct rtFusionAICoreCCUExDetailInfo {
    rtExceptionArgsInfo_t exceptionArgs;
    rtMultiCCUExDetailInfo_t ccuDetailMsg;
} rtFusionAICoreCCUExDetailInfo_t;

/** A failed fused task. */
typedef struct rtFusionExDetailInfo {
    rtFusionExType_t type;
    union {
        rtFusionAICoreCCUExDetailInfo_t aicoreCcuInfo;
    } u;
} rtFusionExDetailInfo_t;

/** Which member of an rtExceptionExpandInfo_t is valid. */
typedef enum tagRtExceptionExpandType {
    RT_EXCEPTION_INVALID = 0, /**< none */
    RT_EXCEPTION_FFTS_PLUS = 1,
    RT_EXCEPTION_AICORE = 2,
    RT_EXCEPTION_UB = 3,
    RT_EXCEPTION_CCU = 4,
    RT_EXCEPTION_FUSION = 5,
    RT_EXCEPTION_AICPU = 6
} rtExceptionExpandType_t;

/** Details of a failed task. */
typedef struct rtExceptionExpandInfo {
    rtExceptionExpandType_t type;
    union {
        rtFftsPlusExDetailInfo_t fftsPlusInfo;
        rtAicoreExDetailInfo_t aicoreInfo;
        rtAicpuExDetailInfo_t aicpuInfo;
        rtUbExDetailInfo_t ubInfo;
        rtMultiCCUExDetailInfo_t ccuInfo;
        rtFusionExDetailInfo_t fusionInfo;
    } u;
} rtExceptionExpandInfo_t;

/** A task that failed. */
typedef struct rtExceptionInfo {
    uint32_t taskid;
    uint32_t streamid;
    uint32_t tid; /**< the thread that ran it */
    uint32_t deviceid;
    uint32_t retcode; /**< what synchronising its stream returns */
    rtExceptionExpandInfo_t expandInfo;
} rtExceptionInfo_t;

/** A kind of core. */
typedef enum tagRtCoreType { RT_CORE_TYPE_AIC = 0, RT_CORE_TYPE_AIV = 1 } rtCoreType_t;

/** The state of a core at the time a task failed on it. */
typedef struct rtExceptionErrRegInfo {
    uint32_t coreId;
    rtCoreType_t coreType;
    uint64_t startPC;   /**< where the kernel begins */
    uint64_t currentPC; /**< the instruction it had reached, or the address it could not access */
    uint32_t errReg[64];
} rtExceptionErrRegInfo_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: failed tasks
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Returns the state of the cores that a task failed on. Inside an exception callback, with what the callback got;
 * elsewhere 107000. What is returned belongs to the runtime and is valid during the callback.
 */
RTS_API rtError_t rtGetExceptionRegInfo(const rtExceptionInfo_t* const exceptionInfo,
                                        rtExceptionErrRegInfo_t** exceptionErrRegInfo, uint32_t* num);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_BASE_H */
