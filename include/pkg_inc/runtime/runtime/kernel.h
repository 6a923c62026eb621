/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of binaries that programs register themselves. Either a binary is registered, its kernels get host addresses
 * (stubs) and launches name the stub; or all kernels are registered at once and launches name a key, the number at the
 * end of the kernel's name.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_KERNEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_KERNEL_H

#include "../rt_external_kernel.h"
#include "../rt_external_preload.h"
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that are not an ELF file. */
#define RT_DEV_BINARY_MAGIC_PLAIN 0xABCEED50U
#define RT_DEV_BINARY_MAGIC_PLAIN_AICPU 0xABCEED51U
#define RT_DEV_BINARY_MAGIC_PLAIN_AIVEC 0xABCEED52U

/** More flags of launches on the CPU cores: where the kernel is looked for. */
#define RT_KERNEL_DEVICE_FIRST 0x10U
#define RT_KERNEL_HOST_ONLY 0x20U
#define RT_KERNEL_HOST_FIRST 0x40U
#define RT_KERNEL_BIUPERF_FLAG 0x80U

/** What runs a kernel of the CPU cores. */
typedef enum rtKernelType {
    KERNEL_TYPE_CCE = 0,
    KERNEL_TYPE_FWK = 1,
    KERNEL_TYPE_AICPU = 2,
    KERNEL_TYPE_AICPU_CUSTOM = 4,
    KERNEL_TYPE_AICPU_KFC = 5,
    KERNEL_TYPE_CUSTOM_KFC = 6,
    KERNEL_TYPE_HWTS = 10,
    KERNEL_TYPE_RESERVED = 99
} rtKernelType_t;

/** Which cores a kernel is for. */
typedef enum rtKernelAttrType {
    RT_KERNEL_ATTR_TYPE_AICORE = 0,
    RT_KERNEL_ATTR_TYPE_CUBE = 1,
    RT_KERNEL_ATTR_TYPE_VECTOR = 2,
    RT_KERNEL_ATTR_TYPE_MIX = 3,
    RT_KERNEL_ATTR_TYPE_AICPU = 100
} rtKernelAttrType;

/** The arguments of rtsLaunchCpuKernel. */
typedef struct rtCpuKernelArgs {
    rtAicpuArgsEx_t baseArgs;
    size_t cpuParamHeadOffset; /**< not used */
    uint32_t rsv[4];
} rtCpuKernelArgs_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: kernels of registered binaries
 * ------------------------------------------------------------------------------------------------------------ */

/** Registers a binary; needs neither aclInit nor a device. `hdl` serves wherever an rtBinHandle does. */
RTS_API rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** hdl);

/** Forgets a binary with all its kernels and stubs; launches that are queued still run. */
RTS_API rtError_t rtDevBinaryUnRegister(void* hdl);

/**
 * Gives a kernel of a binary a stub, an address of the program by which it is launched, and a name for the stub.
 * `kernelInfoExt` is the kernel's name. A stub, or a stub's name, that is taken gives 507028.
 */
RTS_API rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char_t* stubName,
                                     const void* kernelInfoExt, uint32_t funcMode);

/** Returns the stub of a name; 507027 when there is none. */
RTS_API rtError_t rtGetFunctionByName(const char_t* stubName, void** stubFunc);

/** Returns 0 when a stub of that name is registered, else 507027. */
RTS_API rtError_t rtQueryFunctionRegistered(const char_t* stubName);

/** Launches the kernel of a stub with `argsSize` bytes of host memory, copied before the call returns. */
RTS_API rtError_t rtKernelLaunch(const void* stubFunc, uint32_t numBlocks, void* args, uint32_t argsSize,
                                 rtSmDesc_t* smDesc, rtStream_t stm);

/** Launches the kernel of a stub with an argument block that may hold pointers into itself. `flags`: RT_KERNEL_*. */
RTS_API rtError_t rtKernelLaunchWithFlagV2(const void* stubFunc, uint32_t numBlocks, rtArgsEx_t* argsInfo,
                                           rtSmDesc_t* smDesc, rtStream_t stm, uint32_t flags,
                                           const rtTaskCfgInfo_t* cfgInfo);

/** Launches the kernel of a binary whose name ends in _`tilingKey`; 107000 when there is none. */
RTS_API rtError_t rtKernelLaunchWithHandleV2(void* hdl, const uint64_t tilingKey, uint32_t numBlocks,
                                             rtArgsEx_t* argsInfo, rtSmDesc_t* smDesc, rtStream_t stm,
                                             const rtTaskCfgInfo_t* cfgInfo);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_KERNEL_H */
