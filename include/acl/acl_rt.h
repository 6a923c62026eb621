/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime interface: devices, contexts, streams, events, memory, kernels, launches, callbacks and models.
 * Programs include it directly or through acl.h. Every function may be called from any thread; the current
 * device and the current context belong to the calling thread. Calls named Async, launches, records and waits
 * put a task on a stream and return; everything else has done its work when it returns. Null where a pointer or
 * a handle is required gives ACL_ERROR_INVALID_PARAM.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_RT_H
#define CANOPY_INCLUDE_ACL_ACL_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Version
 * ------------------------------------------------------------------------------------------------------------ */

/** The version of this interface. */
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/** Sizes of the texts in aclCANNPackageVersion. */
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

/** A package of the installation. */
typedef enum aclCANNPackageName {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7
} aclCANNPackageName;

/** The version of a package, whole and in parts. */
typedef struct aclCANNPackageVersion {
    char version[ACL_PKG_VERSION_MAX_SIZE]; /**< the whole text */
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/** Returns the version of this interface in three numbers. */
ACL_DEPRECATED_MESSAGE("use aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);

/**
 * Writes the version of the package `pkgName` into `versionStr`, which holds at least ACL_PKG_VERSION_MAX_SIZE
 * bytes. A package without a version file gives ACL_ERROR_INVALID_FILE.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

/**
 * Returns the version of the package `pkgName` as one number that grows with it: major * 10^7 + minor * 10^5 +
 * patch * 10^3, a little less for versions before a release.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);

/** Returns the version of a package in parts. */
ACL_DEPRECATED_MESSAGE("use aclsysGetVersionStr and aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

/* ------------------------------------------------------------------------------------------------------------
 * Initialisation
 *
 * aclInit opens the interface for the process and aclFinalize closes it; init, work, finalize and init again is
 * allowed. Functions whose names start with aclrt do not require aclInit.
 * ------------------------------------------------------------------------------------------------------------ */

/** A part of the software that takes part in initialisation. */
typedef enum aclRegisterCallbackType {
    ACL_REG_TYPE_ACL_MODEL = 0,
    ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
    ACL_REG_TYPE_ACL_OP_CBLAS = 2,
    ACL_REG_TYPE_ACL_OP_COMPILER = 3,
    ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
    ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
    ACL_REG_TYPE_ACL_DVPP = 6,
    ACL_REG_TYPE_ACL_RETR = 7,
    ACL_REG_TYPE_OTHER = 0xFFFF
} aclRegisterCallbackType;

/** Called in aclInit with the configuration as `len` bytes of JSON text. */
typedef aclError (*aclInitCallbackFunc)(const char* configStr, size_t len, void* userData);

/** Called when the process finalises. */
typedef aclError (*aclFinalizeCallbackFunc)(void* userData);

/**
 * Initialises the process. `configPath` names a JSON file, or is null or empty for the defaults. A second call
 * returns ACL_ERROR_REPEAT_INITIALIZE, which may be ignored: it counts a reference, and the first configuration
 * stays. An unreadable file gives ACL_ERROR_INVALID_FILE, bad JSON ACL_ERROR_PARSE_FILE.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

/**
 * Finalises the process, however often aclInit was called, once the work of the devices is drained. A second call
 * gives ACL_ERROR_REPEAT_FINALIZE.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Drops one reference of aclInit and finalises with the last. The number that is left is stored in `refCount`
 * unless that is null.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

/** Adds a function that aclInit calls; if the process is initialised already, it is called at once. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                                     void* userData);

/** Removes a function added with aclInitCallbackRegister. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc);

/** Adds a function that is called when the process finalises. */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                                         void* userData);

/** Removes a function added with aclFinalizeCallbackRegister. */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc cbFunc);

/** Sets an option for the whole process. */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Reads an option of the process; 0 unless it was set. */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/* ------------------------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------------------------ */

/** Whose last error is meant; only the calling thread's exists. */
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

/**
 * Returns the messages of the errors since the last call, newest first, and clears them; null when there are
 * none. They are those of the calling thread unless the configuration says otherwise. The pointer is valid
 * until the next call in this thread.
 */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

/**
 * Returns the last runtime code that a call in this thread returned, and clears it. Codes of argument checks
 * (ACL_ERROR_INVALID_PARAM) do not count.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/** Returns the last runtime code that a call in this thread returned, and keeps it. */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/* ------------------------------------------------------------------------------------------------------------
 * Devices
 *
 * A device is set per thread and counted per process: aclrtSetDevice adds one, aclrtResetDevice takes one away,
 * and the device is released at zero. The first set creates the primary context of the device with its default
 * stream; all threads that set the device share it.
 * ------------------------------------------------------------------------------------------------------------ */

/** Answers of aclrtGetDeviceCapability. */
#define ACL_DEV_FEATURE_NOT_SUPPORT 0
#define ACL_DEV_FEATURE_SUPPORT 1

/** Values of ACL_DEV_ATTR_HD_CONNECT_TYPE. */
#define ACL_HOST_DEVICE_CONNECT_TYPE_PCIE 0U
#define ACL_HOST_DEVICE_CONNECT_TYPE_HCCS 1U
#define ACL_HOST_DEVICE_CONNECT_TYPE_UB 2U

/** Values of ACL_DEV_ATTR_DEVICE_FORM_FACTOR. */
#define ACL_DEVICE_FORM_FACTOR_POD 0U
#define ACL_DEVICE_FORM_FACTOR_A_K 1U
#define ACL_DEVICE_FORM_FACTOR_A_X 2U
#define ACL_DEVICE_FORM_FACTOR_PCIE_CARD 3U

/** How two devices are connected; answers of aclrtGetDevicesTopo. */
#define ACL_RT_DEVS_TOPOLOGY_HCCS 0x01ULL    /**< a direct link */
#define ACL_RT_DEVS_TOPOLOGY_PIX 0x02ULL     /**< one PCIe switch */
#define ACL_RT_DEVS_TOPOLOGY_PIB 0x04ULL     /**< several PCIe switches */
#define ACL_RT_DEVS_TOPOLOGY_PHB 0x08ULL     /**< a PCIe host bridge */
#define ACL_RT_DEVS_TOPOLOGY_SYS 0x10ULL     /**< the link between two processors */
#define ACL_RT_DEVS_TOPOLOGY_SIO 0x20ULL     /**< two dies of one chip */
#define ACL_RT_DEVS_TOPOLOGY_HCCS_SW 0x40ULL /**< a direct link through a switch */

/** Where the program runs: on the device or on its host. */
typedef enum aclrtRunMode { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;

/** A task scheduler of the device. */
typedef enum aclrtTsId { ACL_TS_ID_AICORE = 0, ACL_TS_ID_AIVECTOR = 1, ACL_TS_ID_RESERVED = 2 } aclrtTsId;

/** Whether a device can work. */
typedef enum aclrtDeviceStatus {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 0xFFFF
} aclrtDeviceStatus;

/** The moment at which a device callback is called. */
typedef enum aclrtDeviceState {
    ACL_RT_DEVICE_STATE_SET_PRE = 0,
    ACL_RT_DEVICE_STATE_SET_POST = 1,
    ACL_RT_DEVICE_STATE_RESET_PRE = 2,
    ACL_RT_DEVICE_STATE_RESET_POST = 3
} aclrtDeviceState;

/** A figure of a device. Those of the SIMT programming model are 0 where it is not supported. */
typedef enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,    /**< cores for CPU kernels */
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101, /**< cores, each a cube core with its vector cores */
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
    ACL_DEV_ATTR_WARP_SIZE = 202,
    ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
    ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204, /**< older name of the same */
    ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,      /**< bytes of unified buffer */
    ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
    ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
    ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
    ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
    ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
    ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301, /**< bytes */
    ACL_DEV_ATTR_L2_CACHE_SIZE = 302,         /**< bytes */
    ACL_DEV_ATTR_SMP_ID = 401,
    ACL_DEV_ATTR_PHY_CHIP_ID = 402,
    ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403, /**< older spelling of the next */
    ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
    ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
    ACL_DEV_ATTR_SUPER_POD_ID = 405,
    ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406, /**< whether user operators may run */
    ACL_DEV_ATTR_MAINBOARD_ID = 407,
    ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,    /**< ACL_HOST_DEVICE_CONNECT_TYPE_* */
    ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409, /**< ACL_DEVICE_FORM_FACTOR_* */
    ACL_DEV_ATTR_IS_VIRTUAL = 501,         /**< 1 for a part of a device */
    ACL_DEV_ATTR_NPU_ARCH = 601            /**< an aclplatformNpuArch */
} aclrtDevAttr;

/** A feature that aclrtGetDeviceCapability can be asked for. */
typedef enum aclrtDevFeatureType {
    ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
    ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21
} aclrtDevFeatureType;

/** A kind of core whose number can be limited. */
typedef enum aclrtDevResLimitType { ACL_RT_DEV_RES_CUBE_CORE = 0, ACL_RT_DEV_RES_VECTOR_CORE = 1 } aclrtDevResLimitType;

/** A limit of the device memory that kernels use for themselves, in bytes. */
typedef enum aclrtDeviceLimit {
    ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
    ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
    ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,                /**< stack of a block */
    ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3, /**< printf buffer of a core */
    ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4
} aclrtDeviceLimit;

/** Before or after the tasks of a device are aborted. */
typedef enum aclrtDeviceTaskAbortStage {
    ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
    ACL_RT_DEVICE_TASK_ABORT_POST = 1
} aclrtDeviceTaskAbortStage;

/** What a computation gives when it leaves the range of its type. */
typedef enum aclrtFloatOverflowMode {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0, /**< the largest finite value */
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,     /**< infinity and NaN; the default */
    ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

/** An operation that a device may offer as atomic. */
typedef enum aclrtAtomicOperation {
    ACL_RT_ATOMIC_OPERATION_INTEGER_ADD = 0,
    ACL_RT_ATOMIC_OPERATION_INTEGER_MIN = 1,
    ACL_RT_ATOMIC_OPERATION_INTEGER_MAX = 2,
    ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
    ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
    ACL_RT_ATOMIC_OPERATION_AND = 5,
    ACL_RT_ATOMIC_OPERATION_OR = 6,
    ACL_RT_ATOMIC_OPERATION_XOR = 7,
    ACL_RT_ATOMIC_OPERATION_EXCHANGE = 8,
    ACL_RT_ATOMIC_OPERATION_CAS = 9,
    ACL_RT_ATOMIC_OPERATION_FLOAT_ADD = 10,
    ACL_RT_ATOMIC_OPERATION_FLOAT_MIN = 11,
    ACL_RT_ATOMIC_OPERATION_FLOAT_MAX = 12,
    ACL_RT_ATOMIC_OPERATION_DMA_ADD = 30,
    ACL_RT_ATOMIC_OPERATION_DMA_MIN = 31,
    ACL_RT_ATOMIC_OPERATION_DMA_MAX = 32,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD = 40,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN = 41,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX = 42,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS = 43,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH = 44
} aclrtAtomicOperation;

/** For which operands an operation is atomic; the values combine. */
typedef enum aclrtAtomicOperationCapability {
    ACL_RT_ATOMIC_CAPABILITY_SIGNED = 1,
    ACL_RT_ATOMIC_CAPABILITY_UNSIGNED = 2,
    ACL_RT_ATOMIC_CAPABILITY_REDUCATION = 4, /**< older spelling of the next */
    ACL_RT_ATOMIC_CAPABILITY_REDUCTION = 4,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR8 = 8,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR16 = 16,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR32 = 32,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR64 = 64,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR128 = 128,
    ACL_RT_ATOMIC_CAPABILITY_VECTOR32X4 = 256
} aclrtAtomicOperationCapability;

/** Reserved. */
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/** How busy the parts of a device are, in percent; -1 where that is not known. */
typedef struct aclrtUtilizationInfo {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo* utilizationExtend; /**< must be null */
} aclrtUtilizationInfo;

/** The identity of a device. */
typedef struct aclrtUuid {
    char bytes[16];
} aclrtUuid;

/** Called when a device is set or reset. */
typedef void (*aclrtDeviceStateCallback)(int32_t deviceId, aclrtDeviceState state, void* args);

/** Called before and after the tasks of a device are aborted; returns 0 for success. */
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage, uint32_t timeout,
                                                void* args);

/**
 * Makes a device the current one of this thread, counts one use of it, and drops an explicit current context. An
 * unknown number gives ACL_ERROR_RT_INVALID_DEVICEID.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Takes back one aclrtSetDevice of the process. The last one waits for the work of the primary context and
 * releases it with its streams. A device that is not set gives ACL_ERROR_RT_CONTEXT_RELEASE_ERROR. The device
 * need not be current.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/** Releases a device whatever its count is. Later resets of it give ACL_ERROR_RT_CONTEXT_RELEASE_ERROR. */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/** Returns the current device of this thread, or ACL_ERROR_RT_CONTEXT_NULL when there is none. */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

/** Returns the number of devices that the process sees, as ASCEND_RT_VISIBLE_DEVICES chooses them. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

/** Says whether the program runs on the host or on the device. */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

/**
 * Selects the task scheduler for later work of this thread. Accepted for compatibility; there is one scheduler.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetTsDevice(aclrtTsId tsId);

/** Says whether a device can work. */
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

/** Returns how busy a device is. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo);

/** Reads a figure of a device. Needs no current context. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

/** Says whether a device has a feature: ACL_DEV_FEATURE_SUPPORT or ACL_DEV_FEATURE_NOT_SUPPORT. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                                      int32_t* value);

/** Says whether binaries for the chip `socVersion` run on this one: 1 or 0. */
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible);

/** Returns the identity of a device. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

/**
 * Writes the bus address of a device as "dddd:bb:dd.f" into `pciBusId`, which holds `len` bytes, at least 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len);

/** Returns the device with a bus address. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId);

/** Returns the process number by which other processes grant rights to this one, inside a container too. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

/** Returns the lowest (7) and the highest (0) stream priority. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority);

/** Sets a limit for the whole process. Comes between aclInit and the first aclrtSetDevice. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);

/** Reads a limit of the process. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value);

/** Writes the cache of the current device back to memory. `rsv` must be null. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceL2CacheFlush(void* rsv);

/** Says for each of `count` operations how far it is atomic on memory of the host. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities,
                                                                  const aclrtAtomicOperation* operations,
                                                                  const uint32_t count, int32_t deviceId);

/** Says for each of `count` operations how far it is atomic on memory of another device. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities,
                                                                 const aclrtAtomicOperation* operations,
                                                                 const uint32_t count, int32_t srcDeviceId,
                                                                 int32_t dstDeviceId);

/**
 * Ends all work of a device: running tasks are stopped, queued ones dropped, and waiting calls return
 * ACL_ERROR_RT_DEVICE_TASK_ABORT. `timeout` is in milliseconds, at most 36 minutes; 0 waits without limit.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/** Registers a function under a name for aclrtDeviceTaskAbort; a null function removes the name. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback,
                                                             void* args);

/**
 * Registers a function under a name for aclrtSetDevice and the resets; a null function removes the name. A name
 * can be used once.
 */
ACL_FUNC_VISIBILITY aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback,
                                                         void* args);

/** Waits for the work of all streams of the current context and returns the first failure among it. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/**
 * Waits for the work of all streams of the current context for at most `timeout` milliseconds (-1: no limit). Not
 * finished in time gives ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, and the work goes on.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/* ------------------------------------------------------------------------------------------------------------
 * Limits on cores
 *
 * A limit tells libraries how many cores to use; it does not change launches with an explicit number of blocks.
 * A stream's limit counts before the process's, and that before the hardware.
 * ------------------------------------------------------------------------------------------------------------ */

/** Limits the cores of a kind on a device, for the whole process. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value);

/** Returns the limit of the process, or the number of cores when there is none. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value);

/** Removes the limits of the process on a device. */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceResLimit(int32_t deviceId);

/** Limits the cores of a kind for a stream. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);

/** Returns the limit of a stream, or that of the process when there is none. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value);

/** Removes the limits of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);

/** Makes the limits of a stream those of this thread. */
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/** Ends the use of the limits of a stream in this thread. */
ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/** Returns how many cores of a kind this thread should use. */
ACL_FUNC_VISIBILITY aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

/* ------------------------------------------------------------------------------------------------------------
 * Several devices
 *
 * The numbers of devices: a user number counts the visible devices, a logical number the devices of the machine,
 * a physical number the devices as they are built in.
 * ------------------------------------------------------------------------------------------------------------ */

/** Says whether one device can reach the memory of another: 1 or 0. The two must differ. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId);

/** Lets the current device reach the memory of `peerDeviceId`, in that direction only. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/** Ends the access of the current device to the memory of `peerDeviceId`. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/** Says whether access from a device to another is enabled: 1 or 0. */
ACL_FUNC_VISIBILITY aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status);

/** Says how two devices are connected, as ACL_RT_DEVS_TOPOLOGY_* values. */
ACL_FUNC_VISIBILITY aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value);

/** Converts a user number to a logical number. */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId);

/** Converts a logical number to a user number. */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid);

/** Converts a physical number to a user number; the name says logical for historical reasons. */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId);

/** Converts a user number to a physical number; the name says logical for historical reasons. */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId);

/** Converts a physical number to a user number. */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId);

/** Converts a user number to a physical number. */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId);

/* ------------------------------------------------------------------------------------------------------------
 * Overflow of computations
 * ------------------------------------------------------------------------------------------------------------ */

/** Sets what computations on the current device give when they overflow; applies to streams created later. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/** Returns what computations on the current device give when they overflow. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

/** Queues a copy of the overflow flags to 64 bytes of device memory at `outputAddr`. */
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream);

/** Queues a clearing of the overflow flags. */
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);

/** Queues a copy of the floating-point overflow flags to device memory of `outputSize` bytes. */
ACL_FUNC_VISIBILITY aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream);

/** Queues a clearing of the floating-point overflow flags. */
ACL_FUNC_VISIBILITY aclError aclrtResetFloatOverflowStatus(aclrtStream stream);

/** Queues a copy of the floating-point overflow flags found by the check `checkMode`. */
ACL_FUNC_VISIBILITY aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t checkMode,
                                                            aclrtStream stream);

/** Queues a clearing of the floating-point overflow flags of the check `checkMode`. */
ACL_FUNC_VISIBILITY aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Contexts
 *
 * A thread's explicit context, set by aclrtCreateContext or aclrtSetCurrentContext, counts before the primary
 * context of its device. A new thread has neither.
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Creates a context with its own default stream on a device and makes it current. Works without aclrtSetDevice.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/**
 * Destroys a context made by aclrtCreateContext with its streams. If it was current, the thread has none
 * afterwards. A primary context gives ACL_ERROR_RT_CONTEXT_NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/** Makes a context, and with it its device, current in this thread. */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/** Returns the current context of this thread, or ACL_ERROR_RT_CONTEXT_NULL. */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

/** Returns the default stream of the current context; a null stream names the same. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

/** Says whether the primary context of a device exists: 1 or 0 in `active`. `flags` must be null. */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

/** Sets an option for the current context. */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Reads an option of the current context. One that was not set gives ACL_ERROR_RT_SYSPARAMOPT_NOT_SET. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/** Returns the device address of the overflow flags of the current context. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetFloatOverflowAddr(void** overflowAddr);

/* ------------------------------------------------------------------------------------------------------------
 * Streams
 *
 * A stream runs its tasks in order; streams run independently of each other and of the default stream. A stream
 * belongs to the context that was current when it was created: using it while another one is current gives
 * ACL_ERROR_RT_STREAM_CONTEXT, except for waiting and querying. A failed task is reported by the next
 * synchronising call.
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of a new stream; the values combine. Unknown bits are ignored. */
#define ACL_STREAM_FAST_LAUNCH 0x1U      /**< prefers a short way into the stream */
#define ACL_STREAM_FAST_SYNC 0x2U        /**< prefers a short wait in synchronisation */
#define ACL_STREAM_PERSISTENT 0x4U       /**< for binding to a model; its tasks run only inside it */
#define ACL_STREAM_HUGE 0x8U             /**< no effect */
#define ACL_STREAM_CPU_SCHEDULE 0x10U    /**< driven by a CPU kernel */
#define ACL_STREAM_DEVICE_USE_ONLY 0x20U /**< driven by the device */

/** Failure modes of a stream. */
#define ACL_CONTINUE_ON_FAILURE 0U /**< later tasks still run; the default */
#define ACL_STOP_ON_FAILURE 1U     /**< later tasks are skipped and the context takes no more */

/** When aclrtValueWait lets the stream go on. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0U /**< (int64_t)(memory - value) >= 0 */
#define ACL_STREAM_WAIT_VALUE_EQ 1U  /**< memory == value */
#define ACL_STREAM_WAIT_VALUE_AND 2U /**< (memory & value) != 0 */
#define ACL_STREAM_WAIT_VALUE_NOR 3U /**< ~(memory | value) != 0 */

/** Whether a stream has work left. */
typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

/** The moment at which a stream callback is called. */
typedef enum aclrtStreamState {
    ACL_RT_STREAM_STATE_CREATE_POST = 1,
    ACL_RT_STREAM_STATE_DESTROY_PRE = 2
} aclrtStreamState;

/** An attribute of a stream. */
typedef enum aclrtStreamAttr {
    ACL_STREAM_ATTR_FAILURE_MODE = 1,
    ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
    ACL_STREAM_ATTR_PRIORITY = 5
} aclrtStreamAttr;

/** The value of a stream attribute. */
typedef union aclrtStreamAttrValue {
    uint64_t failureMode;       /**< ACL_CONTINUE_ON_FAILURE or ACL_STOP_ON_FAILURE */
    uint32_t overflowSwitch;    /**< 1 checks computations for overflow */
    uint32_t userCustomTag;     /**< a number for the user's own purposes */
    uint32_t cacheOpInfoSwitch; /**< 1 keeps operator information of captured tasks */
    uint32_t streamPriority;    /**< 0 to 7 */
    uint32_t reserve[4];
} aclrtStreamAttrValue;

/** An option of aclrtSetStreamConfigOpt. */
typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3
} aclrtStreamConfigAttr;

/** The options of a new stream. */
typedef struct aclrtStreamConfigHandle {
    void* workptr;     /**< memory for the stream, or null */
    size_t workSize;   /**< bytes at workptr */
    size_t flag;       /**< ACL_STREAM_* flags */
    uint32_t priority; /**< 0 to 7 */
} aclrtStreamConfigHandle;

/** Called when a stream was created or is about to be destroyed. */
typedef void (*aclrtStreamStateCallback)(aclrtStream stream, aclrtStreamState state, void* args);

/** Creates a stream with the highest priority. No free stream gives ACL_ERROR_RT_NO_STREAM_RESOURCE. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);

/** Creates a stream with a priority from 0 (highest) to 7, larger values count as 7, and ACL_STREAM_* flags. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);

/** Creates options with their defaults. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void);

/** Destroys options. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle);

/** Sets an option from the `valueSize` bytes at `attrValue`. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                                     const void* attrValue, size_t valueSize);

/** Creates a stream with options. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle);

/** Waits for the tasks of a stream and destroys it. The default stream cannot be destroyed. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/** Destroys a stream without waiting for tasks that are blocked. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/**
 * Waits for the tasks queued on a stream so far and returns the first failure among them. The stream may be of
 * another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/**
 * Waits for the tasks of a stream for at most `timeout` milliseconds (-1: no limit; 0 is refused). Not finished
 * in time gives ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, and the stream goes on.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/** Says without waiting whether a stream has work left. */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/**
 * Stops the running task of a stream and drops the queued ones. Calls that wait for it return
 * ACL_ERROR_RT_STREAM_ABORT.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/** Stops the running task of a stream and keeps the queued ones. Not for the default stream. */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/** Returns the number of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/** Returns the priority of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);

/** Returns the flags that a stream was created with. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/** Returns how many more streams the current device can have. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/** Sets what happens after a task fails; once per stream. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/** Sets an attribute of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);

/** Reads an attribute of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);

/** Switches the overflow check of later tasks of a stream: 1 on, 0 off. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/** Says whether tasks of a stream are checked for overflow. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);

/** Removes the tasks of a stream created with ACL_STREAM_PERSISTENT. */
ACL_FUNC_VISIBILITY aclError aclrtPersistentTaskClean(aclrtStream stream);

/**
 * Registers a function under a name for the creation and destruction of streams, default streams included; a null
 * function removes the name. A name can be used once.
 */
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback,
                                                         void* args);

/** Queues a write of 64 bits to device memory. The address is a multiple of 8; `flag` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

/**
 * Queues a wait until the 64 bits at `devAddr` satisfy the condition `flag` (ACL_STREAM_WAIT_VALUE_*) with
 * `value`. The memory may be written by anyone.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Streams inside a model
 * ------------------------------------------------------------------------------------------------------------ */

/** A comparison. */
typedef enum aclrtCondition {
    ACL_RT_EQUAL = 0,
    ACL_RT_NOT_EQUAL = 1,
    ACL_RT_GREATER = 2,
    ACL_RT_GREATER_OR_EQUAL = 3,
    ACL_RT_LESS = 4,
    ACL_RT_LESS_OR_EQUAL = 5
} aclrtCondition;

/** The type of the two sides of a comparison. */
typedef enum aclrtCompareDataType { ACL_RT_SWITCH_INT32 = 0, ACL_RT_SWITCH_INT64 = 1 } aclrtCompareDataType;

/** Queues a task that starts `activeStream`, which is bound to the same model; both run on. */
ACL_FUNC_VISIBILITY aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);

/**
 * Queues a task that compares two values in device memory when it runs. If the comparison holds, `trueStream`
 * goes on in place of `stream`; otherwise `stream` does. `falseStream` must be null.
 */
ACL_FUNC_VISIBILITY aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue,
                                               aclrtCompareDataType dataType, aclrtStream trueStream,
                                               aclrtStream falseStream, aclrtStream stream);

/** Creates a label. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabel(aclrtLabel* label);

/** Destroys a label that no model uses any more. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabel(aclrtLabel label);

/** Places a label at the current end of a stream that is bound to a model. A label can be placed once. */
ACL_FUNC_VISIBILITY aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);

/** Creates a list of `num` labels for aclrtSwitchLabelByIndex. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList);

/** Destroys a list; the labels stay. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabelList(aclrtLabelList labelList);

/**
 * Queues a jump to the label whose index is in the 32 bits of device memory at `ptr`. `maxValue` is the number of
 * labels; larger indices go to the last one.
 */
ACL_FUNC_VISIBILITY aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList,
                                                     aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Events
 *
 * An event marks a point in the work of a stream. A record notes the work queued so far; a later record replaces
 * it, and waits that were queued before stay bound to theirs. Timestamps and elapsed times need
 * ACL_EVENT_TIME_LINE, waits by streams ACL_EVENT_SYNC.
 * ------------------------------------------------------------------------------------------------------------ */

/** What a new event is for. The first three combine, the others stand alone. */
#define ACL_EVENT_SYNC 0x1U                    /**< streams may wait for it */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x2U /**< it tells how far a stream is */
#define ACL_EVENT_TIME_LINE 0x8U               /**< it carries a time */
#define ACL_EVENT_DEVICE_USE_ONLY 0x10U        /**< only kernels use it */
#define ACL_EVENT_EXTERNAL 0x20U               /**< a model waits in it for work outside */
#define ACL_EVENT_IPC 0x40U                    /**< other processes may open it */

/** Flags of aclrtRecordEventWithFlag. */
#define ACL_EVENT_RECORD_DEFAULT 0U
#define ACL_EVENT_RECORD_EXTERNAL 1U

/** Flags of aclrtStreamWaitEventWithFlag. */
#define ACL_EVENT_WAIT_DEFAULT 0U
#define ACL_EVENT_WAIT_EXTERNAL 1U

/** The size of aclrtIpcEventHandle. */
#define ACL_IPC_EVENT_HANDLE_SIZE 64

/** The answer of aclrtQueryEventStatus. */
typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

/** The answer of aclrtQueryEventWaitStatus. */
typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF
} aclrtEventWaitStatus;

/** The answer of aclrtQueryEvent; note that its values are the other way round. */
typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

/** An event as other processes receive it; plain bytes. */
typedef struct aclrtIpcEventHandle {
    char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/** Creates an event for waiting and for times. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);

/**
 * Creates an event for what `flag` says (ACL_EVENT_*; 0 is refused). No free event gives
 * ACL_ERROR_RT_NO_EVENT_RESOURCE.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/**
 * Creates an event that may be recorded again and again while waits for earlier records are pending. It does not
 * work with aclrtResetEvent, aclrtQueryEvent and aclrtQueryEventWaitStatus.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/** Destroys an event. Queued records and waits still take place. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/** Queues a record: the event happens when the work queued on the stream so far is done. */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Queues a record. ACL_EVENT_RECORD_EXTERNAL, allowed while the stream is captured, makes the record visible
 * outside the model at every execution.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/** Queues a task that makes the event as if it had not been recorded. */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/**
 * Queues a wait for the last record of the event at the time of the call. An event without ACL_EVENT_SYNC gives
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Queues a wait for an event of at most `timeout` seconds (0: no limit). Expiry fails the task and shows at the
 * next synchronisation.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout);

/**
 * Queues a wait. ACL_EVENT_WAIT_EXTERNAL, allowed while the stream is captured and with `timeout` 0, makes the
 * model wait for a record from outside at every execution.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                                          uint32_t flag);

/** Waits until the last record of an event has happened. Works from any device. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/**
 * Waits for an event for at most `timeout` milliseconds (-1: no limit; 0 is refused). Not in time gives
 * ACL_ERROR_RT_EVENT_SYNC_TIMEOUT.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/** Says without waiting whether the last record of an event has happened. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/** Says without waiting whether an event has happened; the values are those of aclrtEventStatus. */
ACL_DEPRECATED_MESSAGE("use aclrtQueryEventStatus")
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/** Says whether all waits queued for an event have been passed. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/**
 * Returns the milliseconds between two events. Both must have happened: otherwise
 * ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/** Returns the microseconds from the start of the device to the event, which must have happened. */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/** Returns the number of an event. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

/** Returns how many more events the current device can have. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t* eventCount);

/** Returns the bytes by which another process opens an event created with ACL_EVENT_IPC. */
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);

/** Opens an event of another process. The process that created it must keep it as long. */
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

/* ------------------------------------------------------------------------------------------------------------
 * Notifies
 *
 * A notify is a flag in the device: a record sets it, a wait goes on when it is set and clears it. Waits may be
 * queued before the record. A counting notify holds a 32-bit number instead.
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of a new notify. */
#define ACL_NOTIFY_DEFAULT 0U
#define ACL_NOTIFY_DEVICE_USE_ONLY 1U

/** Flags of aclrtNotifyGetExportKey. */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0ULL                /**< only named processes may import */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x2ULL /**< every process may import */

/** Flags of aclrtNotifyImportByKey. */
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0ULL
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x2ULL

/** Processes of one server that may import. */
typedef struct aclrtServerPid {
    uint32_t sdid; /**< the number of the server's device */
    int32_t* pid;  /**< `num` process numbers */
    size_t num;
} aclrtServerPid;

/** How a record changes a counting notify. */
typedef enum aclrtCntNotifyRecordMode {
    ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
    ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4
} aclrtCntNotifyRecordMode;

/** How a wait compares a counting notify with its value. */
typedef enum aclrtCntNotifyWaitMode {
    ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4
} aclrtCntNotifyWaitMode;

/** A record of a counting notify. */
typedef struct aclrtCntNotifyRecordInfo {
    aclrtCntNotifyRecordMode mode;
    uint32_t value;
} aclrtCntNotifyRecordInfo;

/** A wait for a counting notify. */
typedef struct aclrtCntNotifyWaitInfo {
    aclrtCntNotifyWaitMode mode;
    uint32_t value;
    uint32_t timeout; /**< seconds; 0 means no limit */
    uint8_t isClear;  /**< 1 sets the counter to 0 when the wait is over */
    uint8_t rsv[3];
} aclrtCntNotifyWaitInfo;

/** Creates a notify. No free one gives ACL_ERROR_RT_NO_NOTIFY_RESOURCE. */
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);

/** Destroys a notify in this process. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

/** Queues a task that sets the flag of a notify. */
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/** Queues a wait for the flag of a notify, which it then clears. `timeout` is in seconds; 0 means no limit. */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout);

/** Clears the flags of `num` notifies. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

/** Returns the number of a notify. */
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);

/**
 * Writes the name under which other processes import a notify into `key`, which holds `len` bytes, at least 65.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags);

/** Allows `num` processes to import a notify. */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num);

/** Allows processes of other servers to import a notify. */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids,
                                                                size_t num);

/** Imports a notify of another process. The importer records, the creator waits. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags);

/** Creates a counting notify with the number 0. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag);

/** Destroys a counting notify. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);

/** Returns the number by which the device knows a counting notify. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId);

/** Queues a change of the counter. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                                                  aclrtCntNotifyRecordInfo* info);

/** Queues a wait until the counter satisfies a condition. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                                           aclrtCntNotifyWaitInfo* info);

/** Queues a task that sets the counter to 0. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Memory
 *
 * Memory belongs to the process and a device, not to a context. Addresses of devices and of the host do not
 * overlap; the runtime knows from an address where it leads.
 * ------------------------------------------------------------------------------------------------------------ */

/** Kinds of memory for aclrtCheckMemType; the values combine. */
#define ACL_RT_MEM_TYPE_DEV 0x2U
#define ACL_RT_MEM_TYPE_DVPP 0x8U
#define ACL_RT_MEM_TYPE_RSVD 0x10U

/**
 * Which pages an allocation gets. P2P policies make memory that other devices may reach. The bandwidth hints have
 * no effect; the read-only flag combines with a policy.
 */
typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,  /**< 2 MiB pages above 1 MiB, else normal ones */
    ACL_MEM_MALLOC_HUGE_ONLY = 1,   /**< 2 MiB pages */
    ACL_MEM_MALLOC_NORMAL_ONLY = 2, /**< 4 KiB pages */
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6, /**< 1 GiB pages */
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x100,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000 /**< the host may only read it */
} aclrtMemMallocPolicy;

/** A kind of memory and its pages, for queries and for physical memory. */
typedef enum aclrtMemAttr {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/** The pages of a kind of memory. */
typedef enum aclrtMemPgType { NORMAL_PAGE_TYPE = 0, HUGE_PAGE_TYPE = 1, HUGE1G_PAGE_TYPE = 2 } aclrtMemPgType;

/** A kind of memory without its pages. */
typedef enum aclrtMemType { HBM_TYPE = 0, DDR_TYPE = 1, P2P_HBM_TYPE = 2, P2P_DDR_TYPE = 3 } aclrtMemType;

/** How pages and kind of memory make up an aclrtMemAttr. */
typedef struct MemAttrMapping {
    uint32_t pgType;  /**< an aclrtMemPgType */
    uint32_t memType; /**< an aclrtMemType */
    bool isHostAlloc;
    aclrtMemAttr memAttr;
} MemAttrMapping;

/** An attribute of an allocation. */
typedef enum aclrtMallocAttrType {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1,
    ACL_RT_MEM_ATTR_DEVICE_ID = 2,
    ACL_RT_MEM_ATTR_VA_FLAG = 3
} aclrtMallocAttrType;

/** The value of an attribute of an allocation. */
typedef union aclrtMallocAttrValue {
    uint16_t moduleId; /**< the number of the module that allocates, for statistics */
    uint32_t deviceId; /**< the device to allocate on */
    uint32_t vaFlag;   /**< 1 gives host memory the same address on the device */
    uint8_t rsv[8];
} aclrtMallocAttrValue;

/** An attribute of an allocation with its value. */
typedef struct aclrtMallocAttribute {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/** The attributes of an allocation. */
typedef struct aclrtMallocConfig {
    aclrtMallocAttribute* attrs;
    size_t numAttrs;
} aclrtMallocConfig;

/** How much memory a part of the software uses. */
typedef struct aclrtMemUsageInfo {
    char name[32];        /**< the part */
    uint64_t curMemSize;  /**< bytes in use */
    uint64_t memPeakSize; /**< most bytes in use */
    size_t reserved[8];
} aclrtMemUsageInfo;

/**
 * Allocates device memory, aligned to 64 bytes and rounded up to a multiple of 32 with 32 more. Size 0 is
 * refused; the content is not defined; no stream is waited for. No memory gives ACL_ERROR_RT_MEMORY_ALLOCATION.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory as aclrtMalloc does, without the 32 bytes at the end. */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory as aclrtMalloc does, cached by the host: see aclrtMemFlush and aclrtMemInvalidate. */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory as aclrtMalloc does, with attributes; `cfg` may be null. */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig* cfg);

/** Allocates device memory as aclrtMallocWithCfg does, where the task scheduler can reach it. */
ACL_FUNC_VISIBILITY aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                                         aclrtMallocConfig* cfg);

/** Frees device memory, or memory of aclrtMallocHost, at once, from any thread, without a context. Null is refused. */
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

/** Waits for the current device, then frees. */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void* devPtr);

/**
 * Allocates pinned host memory, aligned to 64 bytes: copies from and to it run asynchronously. Size 0 is refused.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);

/** Allocates pinned host memory with attributes; `cfg` may be null. */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg);

/** Frees memory of aclrtMallocHost. Null is refused. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

/** Waits for the current device, then frees host memory. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void* hostPtr);

/** Writes cached memory back, so that the device sees what the host wrote. */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void* devPtr, size_t size);

/** Drops cached memory, so that the host sees what the device wrote. */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void* devPtr, size_t size);

/**
 * Returns the free and the total bytes of a kind of memory on the current device; 0 for kinds it does not have.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/**
 * Returns the memory use of a device by part of the software, the largest first, in at most `inputNum` entries.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                                                  size_t* outputNum);

/** Says whether all of `size` addresses lead to the kinds of memory `memType`: 1 or 0. `reserve` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult,
                                               uint32_t reserve);

/* ------------------------------------------------------------------------------------------------------------
 * Where memory is
 * ------------------------------------------------------------------------------------------------------------ */

/** The kind of place where memory is. */
typedef enum aclrtMemLocationType {
    ACL_MEM_LOCATION_TYPE_HOST = 0,
    ACL_MEM_LOCATION_TYPE_DEVICE = 1,
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2, /**< host memory that the runtime does not know */
    ACL_MEM_LOCATION_TYPE_MANAGED = 3,
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

/** A place where memory is. */
typedef struct aclrtMemLocation {
    uint32_t id; /**< the number of the device or of the host node */
    aclrtMemLocationType type;
} aclrtMemLocation;

/** What the runtime knows about an address. */
typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize; /**< bytes */
    uint32_t rsv[4];
} aclrtPtrAttributes;

/** Tells where an address leads. Plain host memory is ACL_MEM_LOCATION_TYPE_UNREGISTERED, not an error. */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

/** Returns the start and the size of the allocation that an address lies in; either output may be null. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize);

/* ------------------------------------------------------------------------------------------------------------
 * Copies
 *
 * The kind of a copy is a hint: the direction follows from the addresses. A copy of 0 bytes, or of memory onto
 * itself, does nothing and succeeds.
 * ------------------------------------------------------------------------------------------------------------ */

/** From where to where a copy goes. */
typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,                /**< as the addresses say */
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,  /**< the source is read before the call returns */
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6, /**< within one device, for described copies */
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7  /**< between devices, for described copies */
} aclrtMemcpyKind;

/** Where the two sides of some items of a batch are. */
typedef struct aclrtMemcpyBatchAttr {
    aclrtMemLocation dstLoc;
    aclrtMemLocation srcLoc;
    uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/**
 * Copies `count` bytes and returns when they have arrived; streams are not waited for. `destMax` is the room at
 * `dst`: less than `count` gives ACL_ERROR_RT_PARAM_INVALID.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

/**
 * Queues a copy. With pinned or device memory the call returns at once; with pageable host memory it returns when
 * the copy is done, in the order of the stream. Host to host gives ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                              aclrtMemcpyKind kind, aclrtStream stream);

/** Queues a copy. */
ACL_DEPRECATED_MESSAGE("use aclrtMemcpyAsync")
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                                           aclrtMemcpyKind kind, aclrtStream stream);

/** Queues a copy from `*src` to `*dst`, each with its offset added. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset,
                                                        const void** src, size_t count, size_t srcDataOffset,
                                                        aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Copies `height` rows of `width` bytes between memories whose rows start `dpitch` and `spitch` bytes apart. A
 * width above a pitch is refused.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                           size_t height, aclrtMemcpyKind kind);

/** Queues a copy of rows. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                                size_t height, aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Copies a batch of `numBatches` items, in any order, all in one direction. Attribute i applies to the items from
 * `attrsIndexes[i]` to the next index; the first index is 0. `failIndex` receives the item that failed, or
 * SIZE_MAX.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                              size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                              size_t numAttrs, size_t* failIndex);

/** Queues a batch of copies. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                   size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                                   size_t numAttrs, size_t* failIndex, aclrtStream stream);

/** aclrtMemcpyBatch without the index of the failed item. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                                size_t numAttrs);

/** aclrtMemcpyBatchAsync without the index of the failed item. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                     size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                                     size_t* attrsIndexes, size_t numAttrs, aclrtStream stream);

/** Returns the bytes of device memory that the description of a copy needs. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize);

/** Describes a copy of `count` bytes in the device memory at `desc`. `config` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr,
                                                size_t count, void* config);

/** Queues a copy that was described with aclrtSetMemcpyDesc. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Fills the first `count` bytes with the low byte of `value`. `maxCount` is the room: less than `count` gives
 * ACL_ERROR_RT_PARAM_INVALID.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/** Queues a fill of bytes. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                              aclrtStream stream);

/** Fills the first `N` 32-bit words; `memSize` is the room in bytes. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N);

/** Queues a fill of 32-bit words. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N,
                                                 aclrtStream stream);

/** Returns the device address of the variable whose host shadow is at `symbol`. */
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr);

/** Returns the size in bytes of the variable whose host shadow is at `symbol`. */
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolSize(const void* symbol, size_t* size);

/** Copies to a variable, `offset` bytes behind its start. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                                                 aclrtMemcpyKind kind);

/** Queues a copy to a variable. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                                      aclrtMemcpyKind kind, aclrtStream stream);

/** Copies from a variable, `offset` bytes behind its start. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count,
                                                   size_t offset, aclrtMemcpyKind kind);

/** Queues a copy from a variable. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count,
                                                        size_t offset, aclrtMemcpyKind kind, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Cache hints
 * ------------------------------------------------------------------------------------------------------------ */

/** The most barriers that one task can wait for. */
#define ACL_RT_CMO_MAX_BARRIER_NUM 6

/** What the cache of the device is to do with a range of memory. */
typedef enum aclrtCmoType {
    ACL_RT_CMO_TYPE_PREFETCH = 0,
    ACL_RT_CMO_TYPE_WRITEBACK = 1,
    ACL_RT_CMO_TYPE_INVALID = 2,
    ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

/** One cache task to wait for. */
typedef struct aclrtBarrierCmoInfo {
    aclrtCmoType cmoType;
    uint32_t barrierId;
} aclrtBarrierCmoInfo;

/** The cache tasks to wait for. */
typedef struct aclrtBarrierTaskInfo {
    size_t barrierNum; /**< entries of cmoInfo in use */
    aclrtBarrierCmoInfo cmoInfo[ACL_RT_CMO_MAX_BARRIER_NUM];
} aclrtBarrierTaskInfo;

/** Queues a hint about `size` bytes at `src`. Hints never change data. */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream);

/** Queues a hint that aclrtCmoWaitBarrier can wait for by its number. */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                                      aclrtStream stream);

/** Queues a wait for hints by their numbers. `flag` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t flag);

/** Returns the bytes of device memory that the description of a hint needs. */
ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t* size);

/** Describes a hint about `size` bytes at `src` in the device memory at `cmoDesc`. */
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size);

/** Queues a hint that was described with aclrtCmoSetDesc. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream,
                                                   const void* reserve);

/* ------------------------------------------------------------------------------------------------------------
 * Host memory that devices see
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of aclrtHostRegisterV2; the values combine. */
#define ACL_HOST_REG_MAPPED 0x2U        /**< the device gets an address for it */
#define ACL_HOST_REG_IOMEMORY 0x4U      /**< reserved */
#define ACL_HOST_REG_READONLY 0x8U      /**< reserved */
#define ACL_HOST_REG_PINNED 0x10000000U /**< copies treat it as pinned */

/** The kind of a registration. */
typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8
} aclrtHostRegisterType;

/** A unit of the device that may reach host memory. */
typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9
} aclrtHacType;

/** Whether a unit reaches host memory. */
typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1
} aclrtHostMemMapCapability;

/**
 * Makes a range of host memory visible to the current device and returns its device address. The range starts at
 * a multiple of 4 KiB. A second registration gives ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr);

/**
 * Makes a range of host memory visible to the current device as ACL_HOST_REG_* flags say; ask
 * aclrtHostGetDevicePointer for the address.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);

/** Returns the device address of a mapped range. It is for kernels, not for copies. `flag` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/** Ends a registration. None gives ACL_ERROR_HOST_MEMORY_NOT_REGISTERED. */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

/** Says whether a unit of a device reaches registered host memory. */
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                                         aclrtHostMemMapCapability* capabilities);

/* ------------------------------------------------------------------------------------------------------------
 * Physical memory and addresses
 *
 * Addresses are reserved, physical memory is allocated, and one is mapped to the other: aclrtReserveMemAddress,
 * aclrtMallocPhysical, aclrtMapMem, and back with aclrtUnmapMem, aclrtFreePhysical, aclrtReleaseMemAddress.
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of aclrtMemExportToShareableHandle. */
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0ULL                /**< only named processes may import */
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1ULL /**< every process may import */

/** Links of aclrtMemMapSelectedLink. */
#define ACL_RT_MEM_LINK_IDX_0 0U
#define ACL_RT_MEM_LINK_IDX_1 1U

/** A piece of physical memory. */
typedef void* aclrtDrvMemHandle;

/** How physical memory is held. */
typedef enum aclrtMemAllocationType { ACL_MEM_ALLOCATION_TYPE_PINNED = 0 } aclrtMemAllocationType;

/** How physical memory is shared. */
typedef enum aclrtMemHandleType { ACL_MEM_HANDLE_TYPE_NONE = 0, ACL_MEM_HANDLE_TYPE_POSIX = 2 } aclrtMemHandleType;

/** What a shared piece of memory is known by. */
typedef enum aclrtMemSharedHandleType {
    ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1, /**< a number, within one server */
    ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2   /**< an aclrtMemFabricHandle, between servers */
} aclrtMemSharedHandleType;

/** Which granularity is asked for. */
typedef enum aclrtMemGranularityOptions {
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF
} aclrtMemGranularityOptions;

/** What a device may do with mapped memory. */
typedef enum aclrtMemAccessFlags {
    ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
    ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
    ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3
} aclrtMemAccessFlags;

/** The way by which one device reaches the memory of another. */
typedef enum aclrtMemLinkType {
    ACL_RT_MEM_ACCESS_LINK_SIO = 0,
    ACL_RT_MEM_ACCESS_LINK_HCCS = 1,
    ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH = 2,
    ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH = 3
} aclrtMemLinkType;

/** A piece of memory as other servers receive it; plain bytes. */
typedef struct aclrtMemFabricHandle {
    uint8_t data[128];
} aclrtMemFabricHandle;

/** What a piece of physical memory is like. */
typedef struct aclrtPhysicalMemProp {
    aclrtMemHandleType handleType; /**< ACL_MEM_HANDLE_TYPE_NONE unless it is shared */
    aclrtMemAllocationType allocationType;
    aclrtMemAttr memAttr;
    aclrtMemLocation location;
    uint64_t reserve; /**< 0 */
} aclrtPhysicalMemProp;

/** Who may do what with mapped memory. */
typedef struct aclrtMemAccessDesc {
    aclrtMemAccessFlags flags;
    aclrtMemLocation location;
    uint8_t rsv[12];
} aclrtMemAccessDesc;

/** Returns the number of bytes that sizes and addresses of such memory must be a multiple of. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                              aclrtMemGranularityOptions option, size_t* granularity);

/**
 * Reserves addresses. `alignment` is 0; `expectPtr` is a wish and may be null; `flags` is 0 or 1 for huge pages.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                                    uint64_t flags);

/** Reserves addresses as aclrtReserveMemAddress does, for memory that the host does not cache specially. */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                                              void* expectPtr, uint64_t flags);

/** Gives reserved addresses back; nothing may be mapped there. */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void* virPtr);

/** Allocates physical memory. `size` is a multiple of the granularity; `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                 const aclrtPhysicalMemProp* prop, uint64_t flags);

/** Frees physical memory; while it is mapped, it stays until the last mapping ends. */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/**
 * Maps physical memory at reserved addresses, with access for its own device. `size` is that of the memory;
 * `offset` and `flags` are 0.
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                         uint64_t flags);

/** Maps physical memory without access; aclrtMemSetAccess comes before its use. */
ACL_FUNC_VISIBILITY aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                                 uint64_t flags);

/** Ends the mapping that starts at an address. */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void* virPtr);

/** Sets who may use a mapping. Range and address are those of the mapping; read and write go together. */
ACL_FUNC_VISIBILITY aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count);

/** Returns what a place may do with a mapping. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag);

/** Returns the physical memory mapped at an address and counts one more use of it. */
ACL_FUNC_VISIBILITY aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

/** Returns what a piece of physical memory is like. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                                       aclrtPhysicalMemProp* prop);

/** Returns the number by which other processes import physical memory; once per piece. */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                                             uint64_t flags, uint64_t* shareableHandle);

/** Exports physical memory as a number or as a fabric handle, as `shareType` says. */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                               aclrtMemSharedHandleType shareType,
                                                               void* shareableHandle);

/** Allows `pidNum` processes to import shared memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum);

/** Allows `pidNum` processes to import memory shared as a number or as a fabric handle. */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle,
                                                               aclrtMemSharedHandleType shareType, int32_t* pid,
                                                               size_t pidNum);

/** Imports memory of another process for use on a device. */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                               aclrtDrvMemHandle* handle);

/** Imports memory shared as a number or as a fabric handle for use on the current device. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                                                 aclrtMemSharedHandleType shareType, uint64_t flags,
                                                                 aclrtDrvMemHandle* handle);

/** Makes memory of the current device visible to the device `dstDevId`. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags);

/** Maps the memory at `virPtrSrc` a second time, reached by another link. */
ACL_FUNC_VISIBILITY aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx);

/** Advises the link by which physical memory is reached. */
ACL_FUNC_VISIBILITY aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink);

/* ------------------------------------------------------------------------------------------------------------
 * Managed memory
 *
 * Memory that the host and the devices dereference at the same address. Sizes are rounded up to 2 MiB.
 * ------------------------------------------------------------------------------------------------------------ */

/** The flag of aclrtMemAllocManaged: every stream may use the memory. */
#define ACL_RT_MEM_ATTACH_GLOBAL 0x1U

/** The kind of place that managed memory can be at. */
typedef enum aclrtMemManagedLocationType {
    ACL_MEM_LOCATIONTYPE_INVALID = 0,
    ACL_MEM_LOCATIONTYPE_DEVICE = 1,
    ACL_MEM_LOCATIONTYPE_HOST = 2,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4
} aclrtMemManagedLocationType;

/** A place that managed memory can be at. */
typedef struct aclrtMemManagedLocation {
    aclrtMemManagedLocationType type;
    int32_t id; /**< the number of the device or of the host node */
} aclrtMemManagedLocation;

/** A hint about the use of managed memory. */
typedef enum aclrtMemManagedAdviseType {
    ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
    ACL_MEM_ADVISE_UNSET_READ_MOSTLY = 1,
    ACL_MEM_ADVISE_SET_PREFERRED_LOCATION = 2,
    ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 3,
    ACL_MEM_ADVISE_SET_ACCESSED_BY = 4,
    ACL_MEM_ADVISE_UNSET_ACCESSED_BY = 5
} aclrtMemManagedAdviseType;

/** What can be asked about managed memory. */
typedef enum aclrtMemManagedRangeAttribute {
    ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 4,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 5,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 6,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} aclrtMemManagedRangeAttribute;

/** Allocates managed memory; `flag` is ACL_RT_MEM_ATTACH_GLOBAL. aclrtFree frees it. */
ACL_FUNC_VISIBILITY aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag);

/** Gives a hint about a range of managed memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size,
                                                   aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location);

/** Reads one attribute of a range into the `dataSize` bytes at `data`. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr,
                                                    size_t size, void* data, size_t dataSize);

/** Reads several attributes of a range. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes,
                                                     const void* ptr, size_t size, void** data, size_t* dataSizes);

/** Queues a move of a range to a place. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size,
                                                          aclrtMemManagedLocation location, uint32_t flags,
                                                          aclrtStream stream);

/** Queues moves of `count` ranges; place i applies to the ranges from `prefetchLocIdxs[i]` on. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                                               aclrtMemManagedLocation* prefetchLocs,
                                                               size_t* prefetchLocIdxs, size_t numPrefetchLocs,
                                                               uint64_t flags, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Memory of other processes
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of aclrtIpcMemGetExportKey. */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0ULL                /**< only named processes may import */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1ULL /**< every process may import */

/** Flags of aclrtIpcMemImportByKey. */
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0ULL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1ULL

/** Values of ACL_RT_IPC_MEM_ATTR_ACCESS_LINK. */
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO 0U
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS 1U
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH 2U
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3U

/** An attribute of shared memory. */
typedef enum aclrtIpcMemAttrType { ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0 } aclrtIpcMemAttrType;

/**
 * Writes the name under which other processes import `size` bytes at `devPtr` into `key`; `len` is 65. The memory
 * starts at a page.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags);

/** Allows `num` processes to import shared memory. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);

/** Allows processes of other servers to import shared memory. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num);

/** Sets an attribute of shared memory. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr);

/** Imports memory of another process and returns its address here. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);

/** Ends the use of shared memory; importers first, then the process that exported it. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);

/* ------------------------------------------------------------------------------------------------------------
 * Kernel binaries
 *
 * A binary is a file or a block of bytes with kernels in it. It is loaded for the current context, and functions
 * and variables are looked up in it by name.
 * ------------------------------------------------------------------------------------------------------------ */

/** The core types of a binary, for ACL_RT_BINARY_LOAD_OPT_MAGIC. */
#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

/** The bytes of a binary before it is loaded. */
typedef void* aclrtBinary;

/** A loaded binary. */
typedef void* aclrtBinHandle;

/** A kernel of a loaded binary. */
typedef void* aclrtFuncHandle;

/** An option of loading. */
typedef enum aclrtBinaryLoadOptionType {
    ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,      /**< 1 copies code to the device at first use */
    ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2,     /**< older name of the next */
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,          /**< one of ACL_RT_BINARY_MAGIC_* */
    ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3 /**< how CPU kernels are described */
} aclrtBinaryLoadOptionType;

/** The value of an option of loading. */
typedef union aclrtBinaryLoadOptionValue {
    uint32_t isLazyLoad;
    uint32_t magic;
    int32_t cpuKernelMode; /**< 0 built-in kernels, 1 a JSON file with a library next to it, 2 a library as data */
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

/** An option of loading with its value. */
typedef struct aclrtBinaryLoadOption {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

/** The options of loading. */
typedef struct aclrtBinaryLoadOptions {
    aclrtBinaryLoadOption* options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

/** What can be asked about a kernel. */
typedef enum aclrtFuncAttribute {
    ACL_FUNC_ATTR_KERNEL_TYPE = 1,      /**< an aclrtKernelType */
    ACL_FUNC_ATTR_KERNEL_RATIO = 2,     /**< cube and vector cores of a mixed kernel, 16 bits each */
    ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3 /**< 0 normal, 1 all blocks at once */
} aclrtFuncAttribute;

/** The kind of cores that a kernel runs on. */
typedef enum aclrtKernelType {
    ACL_KERNEL_TYPE_AICORE = 0,
    ACL_KERNEL_TYPE_CUBE = 1,
    ACL_KERNEL_TYPE_VECTOR = 2,
    ACL_KERNEL_TYPE_MIX = 3, /**< cube and vector cores together */
    ACL_KERNEL_TYPE_AICPU = 100
} aclrtKernelType;

/** Names `dataLen` bytes as a binary; the bytes stay with the caller. Returns null for null data. */
ACL_FUNC_VISIBILITY aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen);

/** Ends the naming; what was loaded from it stays loaded. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyBinary(aclrtBinary binary);

/** Loads a named binary. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle);

/** Loads a binary from a file. `options` may be null. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options,
                                                     aclrtBinHandle* binHandle);

/** Loads a binary from `length` bytes. `options` may be null. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                                     const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle);

/** Unloads a binary. Handles of its kernels become stale. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/**
 * Finds a kernel by its name, which has less than 4,096 characters. An unknown name gives
 * ACL_ERROR_RT_PARAM_INVALID.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                                    aclrtFuncHandle* funcHandle);

/** Finds a kernel by its number. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
                                                           aclrtFuncHandle* funcHandle);

/**
 * Finds a variable by its name and returns its device address and size; either output may be null. An unknown
 * name gives ACL_ERROR_RT_SYMBOL_NOT_FOUND.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr,
                                                  size_t* size);

/** Returns where a binary is on the device; null while it is loaded lazily. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize);

/** Returns the kernel whose host stub is at `symbol`. */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle);

/** Adds the CPU kernel `kernelName` with the exported entry `funcName` to a binary loaded as a library. */
ACL_FUNC_VISIBILITY aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName,
                                                  const char* kernelName, aclrtFuncHandle* funcHandle);

/** Returns the binary that a kernel is in. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle);

/** Writes the name of a kernel into `name`, which holds `maxLen` bytes with the final zero. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name);

/**
 * Returns the addresses of the cube and of the vector part of a kernel; the part that it does not have is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr);

/** Returns the code sizes of the cube and of the vector part of a kernel. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize);

/** Reads an attribute of a kernel. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
                                                       int64_t* attrValue);

/** Returns the number of parameters of a kernel, given by handle or by host stub. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount);

/** Returns where a parameter lies in the argument block and how large it is; the size output may be null. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset,
                                                       size_t* paramSize);

/** Returns how much unified buffer a launch may ask for per block. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t flags, size_t* dynamicUbufSize);

/**
 * Returns the device address by which cube and vector cores meet; mixed kernels take it as a hidden first
 * argument.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetHardwareSyncAddr(void** addr);

/* ------------------------------------------------------------------------------------------------------------
 * Kernel arguments
 *
 * An argument handle collects the arguments of a kernel, each in a slot aligned to 8 bytes: init, append in
 * order, finalize, launch; then update and finalize again for the next launch. At most 128 parameters. One
 * handle is not to be changed by two threads at once.
 * ------------------------------------------------------------------------------------------------------------ */

/** The arguments of a kernel. */
typedef void* aclrtArgsHandle;

/** One argument in an argument handle. */
typedef void* aclrtParamHandle;

/**
 * A pointer in a host argument block whose target lies in the same block. The launch copies both to the device
 * and sets the pointer.
 */
typedef struct aclrtPlaceHolderInfo {
    uint32_t addrOffset; /**< where the pointer is */
    uint32_t dataOffset; /**< where its target is */
} aclrtPlaceHolderInfo;

/** Creates an argument handle for a kernel; the runtime holds its memory. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle);

/** Returns the bytes that an argument handle itself needs in user memory. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize);

/**
 * Returns the bytes that arguments of `userArgsSize` bytes need in user memory, each one rounded up to a multiple
 * of 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                                       size_t* actualArgsSize);

/**
 * Creates an argument handle in user memory: `argsHandle` and `userHostMem` have the sizes that the two functions
 * above return.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                                                          void* userHostMem, size_t actualArgsSize);

/** Appends an argument of `paramSize` bytes; the value is copied at once. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                                                   aclrtParamHandle* paramHandle);

/** Appends a pointer argument whose target follows with aclrtKernelArgsGetPlaceHolderBuffer. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                                              aclrtParamHandle* paramHandle);

/**
 * Returns `dataSize` bytes of host memory as the target of a placeholder, for the caller to fill. Comes after all
 * appends.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                                                 aclrtParamHandle paramHandle, size_t dataSize,
                                                                 void** bufferAddr);

/** Replaces the value of an argument; finalize again afterwards. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                                       void* param, size_t paramSize);

/** Completes an argument handle for launching. Later appends give ACL_ERROR_RT_FEATURE_NOT_SUPPORT. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

/* ------------------------------------------------------------------------------------------------------------
 * Launches
 *
 * A launch queues a kernel with a number of blocks; the arguments are copied before the call returns. `cfg` may
 * be null.
 * ------------------------------------------------------------------------------------------------------------ */

/** The size of a grid or of a block in three dimensions; each is 1 unless it is given. */
#ifndef __BISHENG_CCEC__
typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
#ifdef __cplusplus
    constexpr dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz) {}
#endif
} dim3;
#endif

/** The kind of core that a launch runs on. */
typedef enum aclrtEngineType { ACL_RT_ENGINE_TYPE_AIC = 0, ACL_RT_ENGINE_TYPE_AIV = 1 } aclrtEngineType;

/** A time in microseconds, in two halves. */
typedef struct aclrtTimeoutUs {
    uint32_t timeoutLow;
    uint32_t timeoutHigh;
} aclrtTimeoutUs;

/** An attribute of a launch. */
typedef enum aclrtLaunchKernelAttrId {
    ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,        /**< whether all blocks start together */
    ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE = 2, /**< older name of the next */
    ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,     /**< unified buffer per block */
    ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
    ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8, /**< not together with the timeout in seconds */
    ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9
} aclrtLaunchKernelAttrId;

/** The value of an attribute of a launch. */
typedef union aclrtLaunchKernelAttrValue {
    uint8_t schemMode;        /**< 0 normal, 1 all blocks start together */
    uint32_t localMemorySize; /**< older name of dynUBufSize */
    uint32_t dynUBufSize;     /**< bytes */
    aclrtEngineType engineType;
    uint32_t blockDimOffset;     /**< the number of the first block */
    uint8_t isBlockTaskPrefetch; /**< 1 loads the next task early */
    uint8_t isDataDump;          /**< 1 allows a dump */
    uint16_t timeout;            /**< seconds; 0 means no limit */
    aclrtTimeoutUs timeoutUs;
    uint8_t enableProfiling; /**< 1 records the launch */
    uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;

/** An attribute of a launch with its value. */
typedef struct aclrtLaunchKernelAttr {
    aclrtLaunchKernelAttrId id;
    aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

/** The attributes of a launch. */
typedef struct aclrtLaunchKernelCfg {
    aclrtLaunchKernelAttr* attrs;
    size_t numAttrs;
} aclrtLaunchKernelCfg;

/** Launches a kernel with `argsSize` bytes of arguments in device memory. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                                               size_t argsSize, aclrtStream stream);

/** Launches a kernel with `argsSize` bytes of arguments in device memory and with attributes. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                                                 size_t argsSize, aclrtLaunchKernelCfg* cfg, aclrtStream stream);

/** Launches a kernel with a finalized argument handle. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                         aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                         aclrtArgsHandle argsHandle, void* reserve);

/**
 * Launches a kernel with `argsSize` bytes of arguments in host memory; each placeholder names a pointer in them
 * to be set.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                           aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                           void* hostArgs, size_t argsSize,
                                                           aclrtPlaceHolderInfo* placeHolderArray,
                                                           size_t placeHolderNum);

/** Launches a kernel, given by handle or by host stub, with one pointer per parameter in `args`. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream,
                                                            aclrtLaunchKernelCfg* cfg, void** args);

/** Launches a SIMT kernel with a grid of blocks and one pointer per parameter. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3 gridDim, dim3 blockDim,
                                                                size_t dynUbufSize, aclrtStream stream,
                                                                aclrtLaunchKernelCfg* cfg, void** args);

/** Launches a SIMT kernel with a grid of blocks and arguments in host memory. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3 gridDim, dim3 blockDim,
                                                               size_t dynUbufSize, aclrtStream stream,
                                                               aclrtLaunchKernelCfg* cfg, void* hostArgs,
                                                               size_t argsSize, aclrtPlaceHolderInfo* placeHolderArray,
                                                               size_t placeHolderNum);

/* ------------------------------------------------------------------------------------------------------------
 * Built-in computations
 * ------------------------------------------------------------------------------------------------------------ */

/** How two values become one. */
typedef enum aclrtReduceKind {
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13
} aclrtReduceKind;

/** A distribution of random numbers. */
typedef enum aclrtRandomNumFuncType {
    ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS = 1,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS = 2,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS = 3
} aclrtRandomNumFuncType;

/** A parameter of a distribution: a value, or the device address of one. */
typedef struct aclrtRandomParaInfo {
    uint8_t isAddr; /**< 1 when valueOrAddr holds an address */
    uint8_t valueOrAddr[8];
    uint8_t size; /**< bytes of the value */
    uint8_t rsv[6];
} aclrtRandomParaInfo;

/** Parameters of a dropout mask. */
typedef struct aclrtDropoutBitmaskInfo {
    aclrtRandomParaInfo dropoutRation; /**< the share of bits that are 1 */
} aclrtDropoutBitmaskInfo;

/** Parameters of a uniform distribution. */
typedef struct aclrtUniformDisInfo {
    aclrtRandomParaInfo min;
    aclrtRandomParaInfo max;
} aclrtUniformDisInfo;

/** Parameters of a normal distribution, also a truncated one. */
typedef struct aclrtNormalDisInfo {
    aclrtRandomParaInfo mean;
    aclrtRandomParaInfo stddev;
} aclrtNormalDisInfo;

/** A distribution with its parameters. */
typedef struct aclrtRandomNumFuncParaInfo {
    aclrtRandomNumFuncType funcType;
    union {
        aclrtDropoutBitmaskInfo dropoutBitmaskInfo;
        aclrtUniformDisInfo uniformDisInfo;
        aclrtNormalDisInfo normalDisInfo;
    } paramInfo;
} aclrtRandomNumFuncParaInfo;

/** A task that makes random numbers. */
typedef struct aclrtRandomNumTaskInfo {
    aclDataType dataType;
    aclrtRandomNumFuncParaInfo randomNumFuncParaInfo;
    void* randomParaAddr;    /**< device memory for the parameters, or null */
    void* randomResultAddr;  /**< device memory for the numbers */
    void* randomCounterAddr; /**< 16 bytes of device memory that carry the state */
    aclrtRandomParaInfo randomSeed;
    aclrtRandomParaInfo randomNum; /**< how many numbers */
    uint8_t rsv[8];
} aclrtRandomNumTaskInfo;

/** Queues dst = dst op src over `count` bytes of elements of a type. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind,
                                              aclDataType type, aclrtStream stream, void* reserve);

/** Queues the making of random numbers. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo, const aclrtStream stream,
                                                 void* reserve);

/* ------------------------------------------------------------------------------------------------------------
 * Updating queued tasks
 * ------------------------------------------------------------------------------------------------------------ */

/** A kind of task that can be updated. */
typedef enum aclrtUpdateTaskAttrId {
    ACL_RT_UPDATE_RANDOM_TASK = 1,
    ACL_RT_UPDATE_AIC_AIV_TASK = 2
} aclrtUpdateTaskAttrId;

/** New parameters of a random-number task. */
typedef struct aclrtRandomTaskUpdateAttr {
    void* srcAddr;
    size_t size;
    uint32_t rsv[4];
} aclrtRandomTaskUpdateAttr;

/** Where a kernel task finds its new kernel and number of blocks. */
typedef struct aclrtAicAivTaskUpdateAttr {
    void* binHandle;
    void* funcEntryAddr;
    void* blockDimAddr;
    uint32_t rsv[4];
} aclrtAicAivTaskUpdateAttr;

/** New parameters of a task. */
typedef union aclrtUpdateTaskAttrVal {
    aclrtRandomTaskUpdateAttr randomTaskAttr;
    aclrtAicAivTaskUpdateAttr aicAivTaskAttr;
} aclrtUpdateTaskAttrVal;

/** New parameters of a task with their kind. */
typedef struct aclrtTaskUpdateInfo {
    aclrtUpdateTaskAttrId id;
    aclrtUpdateTaskAttrVal val;
} aclrtTaskUpdateInfo;

/** Queues on `execStream` the update of the task `taskId`, which lies on a stream that is bound to a model. */
ACL_FUNC_VISIBILITY aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo* info,
                                                  aclrtStream execStream);

/** Returns the number of the task that this thread queued last. */
ACL_FUNC_VISIBILITY aclError aclrtGetThreadLastTaskId(uint32_t* taskId);

/** Attaches information about the operator to the task captured last in this thread. */
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize);

/** Attaches further information, as text, to the task captured last in this thread. */
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize);

/* ------------------------------------------------------------------------------------------------------------
 * Timeouts of tasks
 * ------------------------------------------------------------------------------------------------------------ */

/** Sets the seconds after which waits for events, queued later, fail; 0 means never. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/** Sets the seconds after which a kernel fails; 0 means the longest possible time. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/** Sets the milliseconds after which a kernel fails; 0 means the longest possible time. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/**
 * Sets the microseconds after which a kernel fails and returns the time that applies after rounding; 0 means the
 * longest possible time.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout);

/** Returns the time in milliseconds after which a kernel fails. */
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs);

/** Returns the step in microseconds that kernel timeouts are rounded to. */
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t* interval);

/* ------------------------------------------------------------------------------------------------------------
 * Host functions and callbacks
 *
 * There are two ways to run host code in a stream. aclrtLaunchHostFunc runs it on a thread of the runtime.
 * aclrtLaunchCallback runs it on a thread of the user that subscribed to the stream and sits in
 * aclrtProcessReport. Functions called either way must not call the runtime.
 * ------------------------------------------------------------------------------------------------------------ */

/** Whether a stream waits for a callback. */
typedef enum aclrtCallbackBlockType { ACL_CALLBACK_NO_BLOCK = 0, ACL_CALLBACK_BLOCK = 1 } aclrtCallbackBlockType;

/** A function for aclrtLaunchCallback. */
typedef void (*aclrtCallback)(void* userData);

/** A function for aclrtLaunchHostFunc. */
typedef void (*aclrtHostFunc)(void* args);

/** Queues a function; the stream goes on when it has returned. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/** Makes the user's thread `hostFuncThreadId` run the host functions of a stream instead. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/**
 * Runs the host functions that wait for this thread, or waits for one for `timeout` milliseconds (-1: no limit).
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/** Ends such a subscription; the thread may have ended already. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/**
 * Makes the thread `threadId` serve the callbacks of a stream. A thread may serve many streams of a device, a
 * stream has one thread.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/** Queues a callback. A stream without a subscription gives ACL_ERROR_RT_STREAM_NO_CB_REG. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/**
 * Runs the callbacks that wait for this thread, or waits for one for `timeout` milliseconds (-1: no limit). None
 * in time gives ACL_ERROR_RT_REPORT_TIMEOUT, a thread without a subscription ACL_ERROR_RT_THREAD_SUBSCRIBE.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/** Ends the subscription of a thread to a stream. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Exceptions
 *
 * When a task fails, the registered functions are called with a description of it before a synchronising call
 * reports the failure. The description is valid inside the function only. For a null description the functions
 * that return numbers give 0xFFFFFFFF.
 * ------------------------------------------------------------------------------------------------------------ */

/** The description of a failed task. */
typedef struct rtExceptionInfo aclrtExceptionInfo;

/** Called for every failed task. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* exceptionInfo);

/** Called for failed kernels of one binary. */
typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo* exceptionInfo, void* userData);

/** Adds a function for failed tasks; adding it again has no effect. */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/** Removes a function for failed tasks; an unknown one is not an error. */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/** Sets the single function for failed tasks that exists besides the registered ones; null removes it. */
ACL_DEPRECATED_MESSAGE("use aclrtExceptionInfoCallbackRegister")
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/** Sets the function for failed kernels of a binary. */
ACL_FUNC_VISIBILITY aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle,
                                                             aclrtOpExceptionCallback callback, void* userData);

/** Returns the number of the failed task. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Returns the number of the stream of the failed task. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Returns the number of the thread that queued the failed task. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Returns the device of the failed task. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Returns the error code of the failed task. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);

/** Returns the device address and the size of the arguments of the failed kernel. */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info, void** devArgsPtr,
                                                           uint32_t* devArgsLen);

/** Returns the failed kernel. */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info, aclrtFuncHandle* func);

/* ------------------------------------------------------------------------------------------------------------
 * Models: building
 *
 * A model is a graph of tasks that is executed as one. It is built from streams that are bound to it, or
 * captured from the tasks of running code.
 * ------------------------------------------------------------------------------------------------------------ */

/** A model. */
typedef void* aclmdlRI;

/** Starts to build a model. `flag` is 0. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag);

/**
 * Binds a stream created with ACL_STREAM_PERSISTENT to a model. `flag` 0 makes it start with the model,
 * 0x7FFFFFFF makes it wait to be activated.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag);

/** Unbinds a stream from a model. */
ACL_FUNC_VISIBILITY aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);

/** Queues the task that ends an execution of the model; exactly one per model. */
ACL_FUNC_VISIBILITY aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);

/** Ends the building; the model can be executed. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve);

/** Executes a model and waits at most `timeout` milliseconds (-1: no limit). */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/** Queues one execution of a model on a stream, as one task of it. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/** Ends a running execution of a model. */
ACL_FUNC_VISIBILITY aclError aclmdlRIAbort(aclmdlRI modelRI);

/** Destroys a model; one that runs gives ACL_ERROR_RT_MODEL_RUNNING. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

/** Adds a function that is called when the model is destroyed. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData);

/** Removes a function added with aclmdlRIDestroyRegisterCallback. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func);

/** Names a model. */
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);

/** Writes the name of a model into `name`, which holds `maxLen` bytes with the final zero. */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);

/** Returns the number of a model. */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);

/* ------------------------------------------------------------------------------------------------------------
 * Models: capture
 *
 * Between begin and end, tasks queued on the stream go into the model instead of running. Recording an event on
 * it and waiting for that event on another stream takes the other stream into the capture.
 * ------------------------------------------------------------------------------------------------------------ */

/** Which unsafe calls (blocking copies and fills, copies of pageable memory) a capture forbids. */
typedef enum aclmdlRICaptureMode {
    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,       /**< in every thread */
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1, /**< in the thread that captures */
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2       /**< nowhere */
} aclmdlRICaptureMode;

/** Whether a stream is being captured. */
typedef enum aclmdlRICaptureStatus {
    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

/** Starts to capture a stream, which is not the default one. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/**
 * Ends the capture of a stream and returns the model. Forked streams must have come back; except in relaxed mode
 * the thread is the one that began.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/** Says whether a stream is being captured and into which model; one of the outputs may be null. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

/** Sets the capture mode of this thread and returns the one before. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/** Starts a group of tasks that can be replaced later. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/** Ends the group and returns its handle. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

/**
 * Starts to replace the tasks of a group: tasks queued on `stream`, which is not capturing, take their places in
 * order and with the same kinds.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);

/** Ends the replacing; it takes effect in the order of the stream. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Models: conditions
 *
 * A conditional task runs one of several bodies, or a body several times, as a 64-bit word in device memory says
 * when it runs (experimental).
 * ------------------------------------------------------------------------------------------------------------ */

/** The word that a conditional task reads. */
typedef void* aclmdlRICondHandle;

/** Whether the word gets its default value at the start of every execution. */
typedef enum aclmdlRICondHandleFlag { ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1 } aclmdlRICondHandleFlag;

/** The kind of a conditional task. */
typedef enum aclmdlRICondTaskType {
    ACL_MODEL_RI_COND_TYPE_IF = 0,    /**< the first body when not 0, else the second */
    ACL_MODEL_RI_COND_TYPE_WHILE = 1, /**< the body as long as not 0 */
    ACL_MODEL_RI_COND_TYPE_SWITCH = 2 /**< the body with this index */
} aclmdlRICondTaskType;

/** A conditional task. */
typedef struct tagAclmdlRICondTaskParams {
    aclmdlRICondHandle handle;
    aclmdlRICondTaskType type;
    uint32_t size;          /**< number of bodies */
    aclmdlRI* modelRIArray; /**< receives the bodies, to be captured into */
} aclmdlRICondTaskParams;

/** Creates a word for a model that is being captured. */
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                                      aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle);

/** Returns the device address of a word; the model owns it. */
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr);

/** Adds a conditional task to a captured stream and creates its bodies. `flags` is 0. */
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags);

/** Starts to capture a stream into a body; aclmdlRICaptureEnd ends it, before the capture around it ends. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                           aclmdlRICaptureMode mode);

/* ------------------------------------------------------------------------------------------------------------
 * Models: looking inside
 * ------------------------------------------------------------------------------------------------------------ */

/** Flags of aclmdlRIDebugJsonPrint. */
#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0U
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 1U

/** The kind of a task of a model. */
typedef enum aclmdlRITaskType {
    ACL_MODEL_RI_TASK_DEFAULT = 0,
    ACL_MODEL_RI_TASK_KERNEL = 1,
    ACL_MODEL_RI_TASK_EVENT_RECORD = 2,
    ACL_MODEL_RI_TASK_EVENT_WAIT = 3,
    ACL_MODEL_RI_TASK_EVENT_RESET = 4,
    ACL_MODEL_RI_TASK_VALUE_WRITE = 5,
    ACL_MODEL_RI_TASK_VALUE_WAIT = 6
} aclmdlRITaskType;

/** Parameters of a kernel task. */
typedef struct aclmdlRIKernelTaskParams {
    aclrtFuncHandle funcHandle;
    aclrtLaunchKernelCfg* cfg;
    void* args;
    uint32_t isHostArgs; /**< 1 when args is host memory */
    size_t argsSize;
    uint32_t numBlocks;
    uint32_t rsv[10];
} aclmdlRIKernelTaskParams;

/** Parameters of a record. */
typedef struct aclmdlRIEventRecordTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t recordFlag;
} aclmdlRIEventRecordTaskParams;

/** Parameters of a wait for an event. */
typedef struct aclmdlRIEventWaitTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t waitFlag;
} aclmdlRIEventWaitTaskParams;

/** Parameters of a reset of an event. */
typedef struct aclmdlRIEventResetTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t resetFlag;
} aclmdlRIEventResetTaskParams;

/** Parameters of a write of a value. */
typedef struct aclmdlRIValueWriteTaskParams {
    void* devAddr;
    uint64_t value;
} aclmdlRIValueWriteTaskParams;

/** Parameters of a wait for a value. */
typedef struct aclmdlRIValueWaitTaskParams {
    void* devAddr;
    uint64_t value;
    uint32_t flag;
} aclmdlRIValueWaitTaskParams;

/** Parameters of a task of a model; which part is valid follows from the type. */
typedef struct aclmdlRITaskParams {
    aclmdlRITaskType type;
    uint32_t rsv0[3];
    aclrtTaskGrp taskGrp; /**< the group of the task, or null */
    void* opInfoPtr;      /**< from aclrtCacheLastTaskOpInfo, or null */
    size_t opInfoSize;
    uint8_t rsv1[32];
    union {
        uint8_t rsv2[128];
        struct aclmdlRIKernelTaskParams kernelTaskParams;
        struct aclmdlRIEventRecordTaskParams eventRecordTaskParams;
        struct aclmdlRIEventWaitTaskParams eventWaitTaskParams;
        struct aclmdlRIEventResetTaskParams eventResetTaskParams;
        struct aclmdlRIValueWriteTaskParams valueWriteTaskParams;
        struct aclmdlRIValueWaitTaskParams valueWaitTaskParams;
    };
} aclmdlRITaskParams;

/**
 * Returns the streams of a model. With null `streams` only their number; an array too short gives
 * ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams, uint32_t* numStreams);

/**
 * Returns the tasks of a stream of a model. With null `tasks` only their number; an array too short gives
 * ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* numTasks);

/** Returns the kind of a task. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type);

/** Returns the position of a task in its model. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id);

/** Returns the parameters of a task. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params);

/** Replaces the parameters of a task; aclmdlRIUpdate makes it take effect. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params);

/** Makes a task do nothing; aclmdlRIUpdate makes it take effect. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskDisable(aclmdlRITask task);

/** Reads an attribute of the launch behind a kernel task. */
ACL_FUNC_VISIBILITY aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
                                                            aclrtLaunchKernelAttrValue* attrValue);

/** Makes changed parameters take effect from the next execution on. */
ACL_FUNC_VISIBILITY aclError aclmdlRIUpdate(aclmdlRI modelRI);

/** Writes the tasks of a model to a file that trace viewers open. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);

/** Writes the tasks of a model to the log. */
ACL_DEPRECATED_MESSAGE("use aclmdlRIDebugJsonPrint")
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/* ------------------------------------------------------------------------------------------------------------
 * Shared buffers
 *
 * The buffers of acl_tdt_queue.h under their runtime names.
 * ------------------------------------------------------------------------------------------------------------ */

/** Allocates a buffer of `size` bytes. Its data length starts at 0. */
ACL_FUNC_VISIBILITY aclError aclrtAllocBuf(aclrtMbuf* buf, size_t size);

/** Frees a buffer. The memory goes with its last reference. */
ACL_FUNC_VISIBILITY aclError aclrtFreeBuf(aclrtMbuf buf);

/** Returns the address and the capacity of the data of a buffer. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size);

/** Sets how many bytes of a buffer are valid. */
ACL_FUNC_VISIBILITY aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);

/** Returns how many bytes of a buffer are valid. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len);

/** Writes `size` bytes into the user area at `offset`; both stay within its 96 bytes. */
ACL_FUNC_VISIBILITY aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t size, size_t offset);

/** Reads `size` bytes of the user area at `offset`; both stay within its 96 bytes. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t size, size_t offset);

/** Creates a second reference to the memory of a buffer. */
ACL_FUNC_VISIBILITY aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf);

/** Appends a buffer to the chain that starts with `headBuf`. */
ACL_FUNC_VISIBILITY aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);

/** Returns the number of buffers in a chain. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num);

/** Returns the buffer at `index` of a chain. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf* buf);

/* ------------------------------------------------------------------------------------------------------------
 * Faults of the hardware
 * ------------------------------------------------------------------------------------------------------------ */

/** Sizes of the arrays below. */
#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14

/** The part of the hardware that failed. */
typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 0xFFFF
} aclrtErrorType;

/** Whether a core failed by its program or by itself. */
typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/** A range of memory with errors that cannot be corrected. */
typedef struct aclrtMemUceInfo {
    void* addr;
    size_t len;
    size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/** Ranges of memory with errors. */
typedef struct aclrtMemUceInfoArray {
    size_t arraySize; /**< entries in use */
    aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/** Details of a fault. */
typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;
    aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

/** A fault of a device. */
typedef struct aclrtErrorInfo {
    uint8_t tryRepair; /**< 1 when aclrtRepairError may help */
    uint8_t hasDetail; /**< 1 when detail is valid */
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/** Returns the fault of a device; ACL_RT_NO_ERROR when it has none. */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo);

/** Tries to repair a fault of a device. */
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo);

/** Returns ranges of memory with errors, at most `arraySize`, and their number. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                                                size_t* retSize);

/** Repairs ranges of memory with errors. */
ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize);

/* ------------------------------------------------------------------------------------------------------------
 * Snapshots of a process
 *
 * Lock, backup, restore, unlock: in this order, and for the calling process only.
 * ------------------------------------------------------------------------------------------------------------ */

/** Whether a process is locked. */
typedef enum aclrtProcessState { ACL_RT_PROCESS_STATE_RUNNING = 0, ACL_RT_PROCESS_STATE_LOCKED = 1 } aclrtProcessState;

/** The moment at which a snapshot function is called. */
typedef enum aclrtSnapShotStage {
    ACL_RT_SNAPSHOT_LOCK_PRE = 0,
    ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
    ACL_RT_SNAPSHOT_BACKUP_POST = 2,
    ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
    ACL_RT_SNAPSHOT_RESTORE_POST = 4,
    ACL_RT_SNAPSHOT_UNLOCK_POST = 5
} aclrtSnapShotStage;

/** Options of a backup; all 0. */
typedef struct aclrtSnapShotBackupArgs {
    uint32_t backupFlags;
    char reserved[60];
} aclrtSnapShotBackupArgs;

/** Options of a restore; all 0. */
typedef struct aclrtSnapShotRestoreArgs {
    uint32_t restoreFlags;
    char reserved[60];
} aclrtSnapShotRestoreArgs;

/** Called at a stage of a snapshot; returns 0 for success. */
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void* args);

/** Stops new calls and waits for running work. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessLock(int pid, void* reserve);

/** Lets calls go on. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessUnlock(int pid, void* reserve);

/** Saves the state of the devices. `args` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args);

/** Brings the saved state back. `args` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args);

/** Adds a function for a stage of a snapshot. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback,
                                                           void* args);

/** Removes a function for a stage of a snapshot. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback);

/* ------------------------------------------------------------------------------------------------------------
 * Groups of cores
 *
 * Parts of a device that some chips offer; elsewhere there are none.
 * ------------------------------------------------------------------------------------------------------------ */

/** The groups of a device. */
typedef struct tagRtGroupInfo aclrtGroupInfo;

/** A figure of a group. */
typedef enum aclrtGroupAttr {
    ACL_GROUP_AICORE_INT = 0,
    ACL_GROUP_AIV_INT = 1,
    ACL_GROUP_AIC_INT = 2,
    ACL_GROUP_SDMANUM_INT = 3,
    ACL_GROUP_ASQNUM_INT = 4,
    ACL_GROUP_GROUPID_INT = 5
} aclrtGroupAttr;

/** Selects a group for later work of this thread. */
ACL_FUNC_VISIBILITY aclError aclrtSetGroup(int32_t groupId);

/** Returns the number of groups. */
ACL_FUNC_VISIBILITY aclError aclrtGetGroupCount(uint32_t* count);

/** Creates room for the groups of a device. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY aclrtGroupInfo* aclrtCreateGroupInfo(void);

/** Destroys what aclrtCreateGroupInfo created. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo);

/** Reads the groups of the current device. */
ACL_FUNC_VISIBILITY aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo);

/** Reads a figure of a group into the `valueLen` bytes at `attrValue` and returns how many were used. */
ACL_FUNC_VISIBILITY aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex,
                                                     aclrtGroupAttr attr, void* attrValue, size_t valueLen,
                                                     size_t* paramRetSize);

/* ------------------------------------------------------------------------------------------------------------
 * Dump and profiling
 * ------------------------------------------------------------------------------------------------------------ */

/** Makes dumping possible for this process. Before aclInit it gives ACL_ERROR_UNINITIALIZE. */
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);

/** Sets what is dumped, from a JSON file. Without aclmdlInitDump it gives ACL_ERROR_DUMP_NOT_RUN. */
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* dumpCfgPath);

/** Ends dumping. Without aclmdlInitDump it gives ACL_ERROR_DUMP_NOT_RUN. */
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

/** Queues a task that notes the moment and `length` bytes of user data in the profile. */
ACL_FUNC_VISIBILITY aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#include "acl_rt_memory_soma.h"

#endif /* CANOPY_INCLUDE_ACL_ACL_RT_H */
