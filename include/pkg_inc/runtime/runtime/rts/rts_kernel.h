/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binaries, functions, argument lists, launches and host callbacks under the names of the lower interface. Each behaves
 * like its counterpart in acl/acl_rt.h; handles and layouts are the same.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_KERNEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_KERNEL_H

#include "../../rt_external_preload.h"
#include "../base.h"
#include "../kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options for loading a binary; the values of aclrtBinaryLoadOptionType. */
typedef enum rtLoadBinaryOption {
    RT_LOAD_BINARY_OPT_LAZY_LOAD = 1,
    RT_LOAD_BINARY_OPT_MAGIC = 2,
    RT_LOAD_BINARY_OPT_CPU_KERNEL_MODE = 3,
    RT_LOAD_BINARY_OPT_MAX = 4
} rtLoadBinaryOption;

/** The value of a load option. */
typedef union rtLoadBinaryOptionValue {
    uint32_t isLazyLoad;
    uint32_t magic;
    int32_t cpuKernelMode;
    uint32_t rsv[4];
} rtLoadBinaryOptionValue_t;

/** One load option; laid out as aclrtBinaryLoadOption. */
typedef struct rtLoadBinaryOptionPair {
    rtLoadBinaryOption optionId;
    rtLoadBinaryOptionValue_t value;
} rtLoadBinaryOption_t;

/** Load options; laid out as aclrtBinaryLoadOptions. */
typedef struct rtLoadBinaryConfig {
    rtLoadBinaryOption_t* options;
    size_t numOpt;
} rtLoadBinaryConfig_t;

/** A pointer inside an argument block; laid out as aclrtPlaceHolderInfo. */
typedef struct rtPlaceHolderInfo {
    uint32_t addrOffset;
    uint32_t dataOffset;
} rtPlaceHolderInfo_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: binaries and functions
 * ------------------------------------------------------------------------------------------------------------ */

/** Loads a kernel binary from a file. */
RTS_API rtError_t rtsBinaryLoadFromFile(const char_t* const binPath, const rtLoadBinaryConfig_t* const optionalCfg,
                                        rtBinHandle* handle);

/** Loads a kernel binary from memory. */
RTS_API rtError_t rtsBinaryLoadFromData(const void* const data, const uint64_t length,
                                        const rtLoadBinaryConfig_t* const optionalCfg, rtBinHandle* handle);

/** Unloads a binary; launches that are queued still run. */
RTS_API rtError_t rtsBinaryUnload(const rtBinHandle binHandle);

/** Returns where a binary's code is on the current device, and how many bytes it has. */
RTS_API rtError_t rtsBinaryGetDevAddress(const rtBinHandle binHandle, void** bin, uint32_t* binSize);

/** Returns a binary's function by its name. */
RTS_API rtError_t rtsFuncGetByName(const rtBinHandle binHandle, const char_t* kernelName, rtFuncHandle* funcHandle);

/** Returns the function whose name ends in _`funcEntry`. */
RTS_API rtError_t rtsFuncGetByEntry(const rtBinHandle binHandle, const uint64_t funcEntry, rtFuncHandle* funcHandle);

/** Returns the addresses of a function for the cube and for the vector cores. */
RTS_API rtError_t rtsFuncGetAddr(const rtFuncHandle funcHandle, void** aicAddr, void** aivAddr);

/** Writes the name of a function; 107000 when `maxLen` is too small for it. */
RTS_API rtError_t rtsFuncGetName(const rtFuncHandle funcHandle, const uint32_t maxLen, char_t* const name);

/** Names a function of a shared object for the CPU cores that was loaded from memory. */
RTS_API rtError_t rtsRegisterCpuFunc(rtBinHandle binHandle, const char_t* const funcName,
                                     const char_t* const kernelName, rtFuncHandle* funcHandle);

/**
 * Registers a function that fills the variable `symbol` of every binary that has one, each time such a binary is
 * loaded on a device. A second function for the same symbol replaces the first.
 */
RTS_API rtError_t rtsRegKernelLaunchFillFunc(const char_t* symbol, rtKernelLaunchFillFunc callback);

/** Ends that; 107000 when nothing is registered for the symbol. */
RTS_API rtError_t rtsUnRegKernelLaunchFillFunc(const char_t* symbol);

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: argument lists
 * ------------------------------------------------------------------------------------------------------------ */

/** Makes an empty argument list for a function. */
RTS_API rtError_t rtsKernelArgsInit(rtFuncHandle funcHandle, rtArgsHandle* argsHandle);

/** Makes an argument list in memory of the program. */
RTS_API rtError_t rtsKernelArgsInitByUserMem(rtFuncHandle funcHandle, rtArgsHandle argsHandle, void* userHostMem,
                                             size_t actualArgsSize);

/** Returns the bytes that a list itself needs in memory of the program. */
RTS_API rtError_t rtsKernelArgsGetHandleMemSize(rtFuncHandle funcHandle, size_t* memSize);

/** Returns the bytes that arguments of `userArgsSize` bytes need in memory of the program. */
RTS_API rtError_t rtsKernelArgsGetMemSize(rtFuncHandle funcHandle, size_t userArgsSize, size_t* actualArgsSize);

/** Appends an argument. */
RTS_API rtError_t rtsKernelArgsAppend(rtArgsHandle argsHandle, void* para, size_t paraSize, rtParaHandle* paraHandle);

/** Appends a pointer whose target follows with rtsKernelArgsGetPlaceHolderBuffer. */
RTS_API rtError_t rtsKernelArgsAppendPlaceHolder(rtArgsHandle argsHandle, rtParaHandle* paraHandle);

/** Returns host memory for the target of such a pointer. */
RTS_API rtError_t rtsKernelArgsGetPlaceHolderBuffer(rtArgsHandle argsHandle, rtParaHandle paraHandle, size_t dataSize,
                                                    void** bufferAddr);

/** Changes an argument; the list must be finalised again. */
RTS_API rtError_t rtsKernelArgsParaUpdate(rtArgsHandle argsHandle, rtParaHandle paraHandle, void* para,
                                          size_t paraSize);

/** Closes a list, which can then be launched with. */
RTS_API rtError_t rtsKernelArgsFinalize(rtArgsHandle argsHandle);

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: launches
 * ------------------------------------------------------------------------------------------------------------ */

/** Launches a kernel with an argument list. `reserve` is null. */
RTS_API rtError_t rtsLaunchKernelWithConfig(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                            rtKernelLaunchCfg_t* cfg, rtArgsHandle argsHandle, void* reserve);

/** Launches a kernel with arguments that lie in device memory. `reserve` is null. */
RTS_API rtError_t rtsLaunchKernelWithDevArgs(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                             rtKernelLaunchCfg_t* cfg, const void* args, uint32_t argsSize,
                                             void* reserve);

/** Launches a kernel with arguments in host memory, copied before the call returns. */
RTS_API rtError_t rtsLaunchKernelWithHostArgs(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                              rtKernelLaunchCfg_t* cfg, void* hostArgs, uint32_t argsSize,
                                              rtPlaceHolderInfo_t* placeHolderArray, uint32_t placeHolderNum);

/** Launches a kernel on the CPU cores. */
RTS_API rtError_t rtsLaunchCpuKernel(const rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                     const rtKernelLaunchCfg_t* cfg, rtCpuKernelArgs_t* argsInfo);

/** Returns the number of the task that this thread queued last. */
RTS_API rtError_t rtsGetThreadLastTaskId(uint32_t* taskId);

/** Returns the address of the words in which the cores of mixed kernels meet. */
RTS_API rtError_t rtsGetHardwareSyncAddr(void** addr);

/** Returns what must be added to an address to go past all caches: 0, as all cores see the same memory. */
RTS_API rtError_t rtsGetNonCacheAddrOffset(uint32_t deviceId, uint64_t* offset);

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: overflow of computations
 * ------------------------------------------------------------------------------------------------------------ */

/** Queues a copy of the overflow state to 64 bytes of device memory. */
RTS_API rtError_t rtsGetFloatOverflowStatus(void* const outputAddrPtr, const uint64_t outputSize, rtStream_t stm);

/** Queues a reset of the overflow state. */
RTS_API rtError_t rtsResetFloatOverflowStatus(rtStream_t stm);

/** Queues a copy of the overflow state, with a mode of checking. */
RTS_API rtError_t rtsNpuGetFloatOverFlowStatus(void* outputAddrPtr, uint64_t outputSize, uint32_t checkMode,
                                               rtStream_t stm);

/** Queues a reset of the overflow state, with a mode of checking. */
RTS_API rtError_t rtsNpuClearFloatOverFlowStatus(uint32_t checkMode, rtStream_t stm);

/** Queues a copy of the overflow state for debuggers, which is the same state. */
RTS_API rtError_t rtsNpuGetFloatOverFlowDebugStatus(void* outputAddrPtr, uint64_t outputSize, uint32_t checkMode,
                                                    rtStream_t stm);

/** Queues a reset of the overflow state for debuggers. */
RTS_API rtError_t rtsNpuClearFloatOverFlowDebugStatus(uint32_t checkMode, rtStream_t stm);

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: host callbacks
 * ------------------------------------------------------------------------------------------------------------ */

/** Queues host code that a thread of the runtime runs; the stream waits for it. */
RTS_API rtError_t rtsLaunchHostFunc(rtStream_t stm, const rtCallback_t callBackFunc, void* const fnData);

/** Queues host code for the thread that subscribed to the stream; with `isBlock` the stream waits for it. */
RTS_API rtError_t rtsCallbackLaunch(rtCallback_t callBackFunc, void* fnData, rtStream_t stm, bool isBlock);

/** Makes a thread run the callbacks of a stream. */
RTS_API rtError_t rtsSubscribeReport(uint64_t threadId, rtStream_t stm);

/** Ends the subscription of a thread to a stream. */
RTS_API rtError_t rtsUnSubscribeReport(uint64_t threadId, rtStream_t stm);

/** Runs callbacks for this thread, waiting up to `timeout` milliseconds for one; -1 waits without end. */
RTS_API rtError_t rtsProcessReport(int32_t timeout);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_KERNEL_H */
