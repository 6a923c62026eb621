/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiling: collecting times of calls, tasks and models, and marking ranges of the application. There are two
 * ways, a session that writes files and a subscription that sends records through a pipe; they exclude each
 * other (ACL_ERROR_PROF_API_CONFLICT). Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_PROF_H
#define CANOPY_INCLUDE_ACL_ACL_PROF_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Profiling data
 *
 * The parts of the mask `dataTypeConfig` of aclprofCreateConfig.
 * ------------------------------------------------------------------------------------------------------------ */

#define ACL_PROF_ACL_API 0x1ULL         /**< calls of this interface */
#define ACL_PROF_TASK_TIME 0x2ULL       /**< start and end of tasks */
#define ACL_PROF_AICORE_METRICS 0x4ULL  /**< counters of the cores */
#define ACL_PROF_AICPU 0x8ULL           /**< CPU kernels */
#define ACL_PROF_L2CACHE 0x10ULL        /**< hits and misses of the cache */
#define ACL_PROF_HCCL_TRACE 0x20ULL     /**< collective communication */
#define ACL_PROF_TRAINING_TRACE 0x40ULL /**< steps of a training */
#define ACL_PROF_MSPROFTX 0x80ULL       /**< marks of the application */
#define ACL_PROF_RUNTIME_API 0x100ULL   /**< calls below this interface */
#define ACL_PROF_GE_API_L0 0x200ULL
#define ACL_PROF_TASK_TIME_L0 0x800ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL /**< memory of tasks */
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
#define ACL_PROF_OP_ATTR 0x4000ULL /**< attributes of operators */
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
#define ACL_PROF_GE_API_L1 0x1000000ULL
#define ACL_PROF_API_STATS 0x400000000ULL    /**< totals per function instead of single calls */
#define ACL_PROF_AICORE_SHAPE 0x800000000ULL /**< shapes of kernels */

/** Sizes that hold the longest operator name and type, with the final zero. */
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

/** The number of dimensions in aclprofTensor. */
#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8

/** The version of aclprofEventAttributes. */
#define ACL_PROF_EVENT_ATTR_VERSION 1

/** What a session collects, on which devices. */
typedef struct aclprofConfig aclprofConfig;

/** What a session stops collecting. */
typedef struct aclprofStopConfig aclprofStopConfig;

/** A list of core events; reserved, pass null. */
typedef struct aclprofAicoreEvents aclprofAicoreEvents;

/** What a subscription sends, and where to. */
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;

/** The times of one step of an iteration. */
typedef struct aclprofStepInfo aclprofStepInfo;

/** A set of counters of the cores. */
typedef enum aclprofAicoreMetrics {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 255
} aclprofAicoreMetrics;

/** A setting of a session, given as text to aclprofSetConfig. */
typedef enum aclprofConfigType {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,            /**< how much disk space the result may take */
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,    /**< samples per second of the memory */
    ACL_PROF_LLC_MODE = 4,                 /**< which accesses of the last cache count */
    ACL_PROF_SYS_IO_FREQ = 5,              /**< samples per second of the network ports */
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6, /**< samples per second of the links */
    ACL_PROF_DVPP_FREQ = 7,                /**< samples per second of the media units */
    ACL_PROF_HOST_SYS = 8,                 /**< which figures of the host to sample */
    ACL_PROF_HOST_SYS_USAGE = 9,           /**< which use of the host to sample */
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,     /**< samples per second of the host */
    ACL_PROF_LOW_POWER_FREQ = 11,          /**< samples per second of the power states */
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    ACL_PROF_SYS_CPU_FREQ = 13,
    ACL_PROF_OPTYPE = 14,
    ACL_PROF_NTS_METRICS = 15,
    ACL_PROF_PATH = 16,
    ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;

/* ------------------------------------------------------------------------------------------------------------
 * Profiling sessions
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Opens a session whose results go to the directory `profilerResultPath` of `length` bytes (below 4,096). Comes
 * after aclInit.
 */
ACL_FUNC_VISIBILITY aclError aclprofInit(const char* profilerResultPath, size_t length);

/** Closes the session and completes its files. */
ACL_FUNC_VISIBILITY aclError aclprofFinalize(void);

/** Gives the session a setting as text of `configLength` bytes (at most 256). Comes before aclprofStart. */
ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength);

/** Creates the description of a collection on `deviceNums` devices. Returns null for unusable arguments. */
ACL_FUNC_VISIBILITY aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                                       aclprofAicoreMetrics aicoreMetrics,
                                                       const aclprofAicoreEvents* aicoreEvents,
                                                       uint64_t dataTypeConfig);

/** Destroys the description of a collection that is not running. */
ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);

/**
 * Starts a collection; null: calls and tasks of all devices. One that runs already gives ACL_ERROR_PROF_ALREADY_RUN.
 * Without aclprofInit, the results go to ACL_PROF_PATH or the current directory.
 */
ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig* profilerConfig);

/** Stops a collection started with an equal description; null: the one that runs. None running is no failure. */
ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig* profilerConfig);

/* ------------------------------------------------------------------------------------------------------------
 * Profiling subscriptions
 *
 * A model sends a record of fixed size for each operator through a pipe. The functions that read records take
 * the received bytes and the number of the record.
 * ------------------------------------------------------------------------------------------------------------ */

/** What a record of a subscription is about. */
typedef enum aclprofSubscribeOpFlag {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 255
} aclprofSubscribeOpFlag;

/** An attribute of a record. */
typedef enum aclprofSubscribeOpAttri {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0,
    ACL_SUBSCRIBE_ATTRI_NONE = 1
} aclprofSubscribeOpAttri;

/** Describes a subscription: with or without times, which counters, and the write end of a pipe behind `fd`. */
ACL_FUNC_VISIBILITY aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                                         aclprofAicoreMetrics aicoreMetrics, void* fd);

/** Destroys the description of a subscription. */
ACL_FUNC_VISIBILITY aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig);

/** Starts the subscription of a model. A second one gives ACL_ERROR_PROF_REPEAT_SUBSCRIBE. */
ACL_FUNC_VISIBILITY aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig* profSubscribeConfig);

/** Ends the subscription of a model and closes the write end, so the reader sees the end of the data. */
ACL_FUNC_VISIBILITY aclError aclprofModelUnSubscribe(uint32_t modelId);

/** Returns the size in bytes of one record. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpDescSize(size_t* opDescSize);

/** Returns the number of records in the received bytes. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber);

/** Returns the length of the operator type of a record, with the final zero. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                                                 size_t* opTypeLen);

/** Writes the operator type of a record into `opType`, which holds `opTypeLen` bytes. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                                              size_t opTypeLen);

/** Returns the length of the operator name of a record, with the final zero. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                                                 size_t* opNameLen);

/** Writes the operator name of a record into `opName`, which holds `opNameLen` bytes. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                                              size_t opNameLen);

/** Returns the start of the operator in nanoseconds. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index);

/** Returns the end of the operator in nanoseconds. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index);

/** Returns the duration of the operator in nanoseconds. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index);

/** Returns the number of the model that a record belongs to. */
ACL_FUNC_VISIBILITY size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index);

/** Returns what a record is about. */
ACL_FUNC_VISIBILITY aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index);

/** Returns an attribute of a record as text, or null. */
ACL_FUNC_VISIBILITY const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index,
                                                       aclprofSubscribeOpAttri attri);

/* ------------------------------------------------------------------------------------------------------------
 * Profiling steps
 * ------------------------------------------------------------------------------------------------------------ */

/** The start or the end of a step. */
typedef enum aclprofStepTag { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

/** Creates the record of one step. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY aclprofStepInfo* aclprofCreateStepInfo(void);

/** Destroys the record of a step. */
ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);

/** Queues a task that notes the time at which the stream starts or ends the step. */
ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream);

/* ------------------------------------------------------------------------------------------------------------
 * Profiling marks
 *
 * A stamp carries a text. Push and pop nest within one thread; start and stop may be called by different
 * threads.
 * ------------------------------------------------------------------------------------------------------------ */

/** The kind of data attached to a range. */
typedef enum aclprofMessageType { ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0 } aclprofMessageType;

/** The shape and the type of a tensor of an operator. */
typedef struct aclprofTensor {
    uint32_t type;     /**< 0 input, 1 output */
    uint32_t format;   /**< an aclFormat */
    uint32_t dataType; /**< an aclDataType */
    uint32_t shapeDim; /**< entries of shape in use */
    uint32_t shape[ACL_PROF_TENSOR_DATA_SHAPE_LEN];
} aclprofTensor;

/** An operator with its tensors. */
typedef struct aclprofTensorInfo {
    uint64_t opNameId;  /**< from aclprofStr2Id */
    uint64_t opTypeId;  /**< from aclprofStr2Id */
    uint32_t resv;      /**< 0 */
    uint32_t tensorNum; /**< entries of tensors */
    uint32_t kernelType;
    uint32_t blockNums;
    void* stream; /**< the stream the operator runs on */
    aclprofTensor* tensors;
} aclprofTensorInfo;

/** What a range opened with aclprofRangePushEx carries. */
typedef struct aclprofEventAttributes {
    uint16_t version;     /**< ACL_PROF_EVENT_ATTR_VERSION */
    uint16_t size;        /**< bytes of this structure */
    uint32_t messageType; /**< an aclprofMessageType */
    union {
        aclprofTensorInfo* tensorInfo;
    } message;
} aclprofEventAttributes;

/** Creates a stamp. Returns null while no collection with ACL_PROF_MSPROFTX runs. */
ACL_FUNC_VISIBILITY void* aclprofCreateStamp(void);

/** Destroys a stamp. */
ACL_FUNC_VISIBILITY void aclprofDestroyStamp(void* stamp);

/** Sets the message of a stamp, `msgLen` bytes long. */
ACL_FUNC_VISIBILITY aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen);

/** Notes one moment. */
ACL_FUNC_VISIBILITY aclError aclprofMark(void* stamp);

/**
 * Notes one moment of the host and, as a task, the same moment of the stream. The text has at most 127 bytes.
 */
ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);

/** Opens a range of this thread. */
ACL_FUNC_VISIBILITY aclError aclprofPush(void* stamp);

/** Closes the range that this thread opened last. */
ACL_FUNC_VISIBILITY aclError aclprofPop(void);

/** Opens a range that any thread may close; returns its number. */
ACL_FUNC_VISIBILITY aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);

/** Closes the range with this number. */
ACL_FUNC_VISIBILITY aclError aclprofRangeStop(uint32_t rangeId);

/** Opens a range of this thread that carries data. */
ACL_FUNC_VISIBILITY aclError aclprofRangePushEx(aclprofEventAttributes* attr);

/** Closes the range that this thread opened last with aclprofRangePushEx. */
ACL_FUNC_VISIBILITY aclError aclprofRangePop(void);

/** Returns the number under which a text is kept in the result. */
ACL_FUNC_VISIBILITY uint64_t aclprofStr2Id(const char* message);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_PROF_H */
