/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles, error codes, data types, logging and small conversions: the base that every header of this directory
 * builds on. Programs reach it through acl_base.h or acl.h.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_BASE_RT_H
#define CANOPY_INCLUDE_ACL_ACL_BASE_RT_H

#include <stddef.h>
#include <stdint.h>

#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

/** Marks a symbol that the library exports. */
#ifndef ACL_FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#endif

/** Marks a function that has a successor; the library's own sources see it without the warning. */
#ifndef ACL_DEPRECATED_MESSAGE
#ifdef CANOPY_IMPLEMENTATION
#define ACL_DEPRECATED_MESSAGE(message)
#else
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Handles
 *
 * A handle is a number in the clothes of a pointer: it is never dereferenced. A destroyed, foreign or invented
 * handle is refused with ACL_ERROR_RT_INVALID_HANDLE. Handles may be used from any thread.
 * ------------------------------------------------------------------------------------------------------------ */

/** The home of streams and events on one device; a thread has at most one current context. */
typedef void* aclrtContext;

/** A queue of device work that runs in order. A null handle names the default stream of the current context. */
typedef void* aclrtStream;

/** A point in the work of a stream, to wait for, to query and to take times from. */
typedef void* aclrtEvent;

/** A flag between streams, devices or processes: one record releases one wait. */
typedef void* aclrtNotify;

/** A 32-bit counter between streams: records change it, waits compare it. */
typedef void* aclrtCntNotify;

/** A position inside a model that a switch can jump to. */
typedef void* aclrtLabel;

/** An indexed set of labels, the targets of one switch. */
typedef void* aclrtLabelList;

/** A shared buffer with a data part and a small user part, exchanged through queues. */
typedef void* aclrtMbuf;

/** One task inside a built or captured model. */
typedef void* aclmdlRITask;

/** A group of captured tasks whose parameters can be replaced later. */
typedef void* aclrtTaskGrp;

/** The description of a user allocator: its object and its functions. */
typedef void* aclrtAllocatorDesc;

/** The user's allocator object; the runtime only passes it back. */
typedef void* aclrtAllocator;

/** A block handed out by a user allocator. */
typedef void* aclrtAllocatorBlock;

/** An address inside a block of a user allocator. */
typedef void* aclrtAllocatorAddr;

/** A pointer with a size. It does not own the memory. */
typedef struct aclDataBuffer aclDataBuffer;

/* ------------------------------------------------------------------------------------------------------------
 * Error codes
 *
 * aclError is 0 for success. The families: 100xxx and 148xxx the caller's mistake, 200xxx resources and support,
 * 300xxx limits, 500xxx failures. Codes of the runtime and the device are in error_codes/rt_error_codes.h.
 * ------------------------------------------------------------------------------------------------------------ */

/** The result of a call: ACL_SUCCESS or one of the codes below. */
typedef int aclError;

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif

/** Success, under two names. */
static const int ACL_ERROR_NONE = 0;
static const int ACL_SUCCESS = 0;

/** The caller's mistake. */
static const int ACL_ERROR_INVALID_PARAM = 100000;                   /**< an argument is null or out of range */
static const int ACL_ERROR_UNINITIALIZE = 100001;                    /**< aclInit was not called */
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;               /**< already initialised; may be ignored */
static const int ACL_ERROR_INVALID_FILE = 100003;                    /**< a file is missing or unreadable */
static const int ACL_ERROR_WRITE_FILE = 100004;                      /**< a file cannot be written */
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005;               /**< a file is empty or too large */
static const int ACL_ERROR_PARSE_FILE = 100006;                      /**< a file is not well formed */
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007;               /**< a file lacks a required key */
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008;               /**< a key of a file has a bad value */
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;             /**< unusable dump configuration */
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;        /**< bad profiling configuration */
static const int ACL_ERROR_INVALID_MODEL_ID = 100011;                /**< no model has this number */
static const int ACL_ERROR_DESERIALIZE_MODEL = 100012;               /**< a model cannot be decoded */
static const int ACL_ERROR_PARSE_MODEL = 100013;                     /**< a model is not well formed */
static const int ACL_ERROR_READ_MODEL_FAILURE = 100014;              /**< a model cannot be read */
static const int ACL_ERROR_MODEL_SIZE_INVALID = 100015;              /**< a model has the wrong size */
static const int ACL_ERROR_MODEL_MISSING_ATTR = 100016;              /**< a model lacks an attribute */
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;           /**< inputs do not fit the model */
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;          /**< outputs do not fit the model */
static const int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;               /**< the model has fixed shapes */
static const int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;               /**< no operator of this type */
static const int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;              /**< inputs do not fit the operator */
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;             /**< outputs do not fit the operator */
static const int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;               /**< attributes do not fit */
static const int ACL_ERROR_OP_NOT_FOUND = 100024;                    /**< the operator is unknown */
static const int ACL_ERROR_OP_LOAD_FAILED = 100025;                  /**< the operator cannot be loaded */
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;           /**< the data type is not supported */
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027;                /**< the tensor format does not fit */
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;     /**< no kernel selector */
static const int ACL_ERROR_KERNEL_NOT_FOUND = 100029;                /**< the kernel is unknown */
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030; /**< selector exists already */
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;       /**< the kernel exists already */
static const int ACL_ERROR_INVALID_QUEUE_ID = 100032;                /**< no queue has this number */
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;                /**< subscribed already */
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;            /**< no thread serves the stream */
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;            /**< the thread serves no stream */
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;           /**< no callback arrived in time */
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;                 /**< finalised already */
static const int ACL_ERROR_NOT_STATIC_AIPP = 100038;                 /**< the image preprocessing is not static */
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039;             /**< linked with a stub library */
static const int ACL_ERROR_GROUP_NOT_SET = 100040;                   /**< no group is selected */
static const int ACL_ERROR_GROUP_NOT_CREATE = 100041;                /**< the group does not exist */
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042;                /**< profiling runs already */
static const int ACL_ERROR_PROF_NOT_RUN = 100043;                    /**< profiling does not run */
static const int ACL_ERROR_DUMP_ALREADY_RUN = 100044;                /**< dumping runs already */
static const int ACL_ERROR_DUMP_NOT_RUN = 100045;                    /**< dumping does not run */
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;           /**< the model is subscribed already */
static const int ACL_ERROR_PROF_API_CONFLICT = 148047;               /**< two ways of profiling are mixed */
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;  /**< bad max_opqueue_num */
static const int ACL_ERROR_INVALID_OPP_PATH = 148049;                /**< the operator path is not usable */
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;          /**< the operator has fixed shapes */
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;   /**< resource is still in use */
static const int ACL_ERROR_UNSUPPORTED_JPEG = 148052;                /**< the image format is not supported */
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;         /**< no such model in the bundle */

/** A resource is missing, or a feature is not supported. */
static const int ACL_ERROR_BAD_ALLOC = 200000;                /**< host memory is exhausted */
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;          /**< the function is not supported */
static const int ACL_ERROR_INVALID_DEVICE = 200002;           /**< the device is not usable */
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003; /**< address is not aligned */
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;       /**< the resources do not fit together */
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;  /**< the handle is not valid */
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;      /**< the feature is not supported */
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007; /**< no such profiling module */

/** A limit is reached. */
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000; /**< the storage limit is reached */

/** A failure inside the implementation. */
static const int ACL_ERROR_INTERNAL_ERROR = 500000;    /**< a defect or an unforeseen state */
static const int ACL_ERROR_FAILURE = 500001;           /**< the call failed */
static const int ACL_ERROR_GE_FAILURE = 500002;        /**< the graph engine failed */
static const int ACL_ERROR_RT_FAILURE = 500003;        /**< the runtime failed */
static const int ACL_ERROR_DRV_FAILURE = 500004;       /**< the device layer failed */
static const int ACL_ERROR_PROFILING_FAILURE = 500005; /**< profiling failed */

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------ */

/** A half-precision number as its 16 bits: sign, 5 bits exponent, 10 bits fraction. */
typedef uint16_t aclFloat16;

/** The type of the elements of a tensor. */
typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0, /**< 32-bit */
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11, /**< 64-bit */
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,  /**< two 32-bit parts */
    ACL_COMPLEX128 = 17, /**< two 64-bit parts */
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33, /**< two 16-bit parts */
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

/** The order and the tiling of the dimensions of a tensor in memory. */
typedef enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

/** Where a tensor lives when it is passed to an operator. */
typedef enum aclMemType {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

/**
 * Returns the size in bytes of one element. ACL_STRING and ACL_DT_UNDEFINED give 0; types narrower than a byte
 * give 1 where they are integers and 8 otherwise.
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Converts a half-precision number to single precision. The conversion treats every bit pattern as finite: half
 * infinity gives 65536 and half NaN 98304.
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * Converts a single-precision number to half precision. Values beyond the range, infinities and NaN give the
 * largest finite value with the sign of the argument.
 */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/* ------------------------------------------------------------------------------------------------------------
 * Data buffers
 *
 * A holder of a pointer and a size, used where an interface takes a described buffer. Creating, reading and
 * destroying one never touches the memory behind it. One buffer is not to be changed by two threads at once.
 * ------------------------------------------------------------------------------------------------------------ */

/** Creates a holder for `data` and `size`; both may be 0. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);

/** Destroys a holder. The memory it names stays with its owner. */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);

/** Replaces the pointer and the size of a holder. */
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size);

/** Returns the pointer of a holder, or null for a null holder. */
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);

/** Returns the size of a holder, cut to 32 bits. */
ACL_DEPRECATED_MESSAGE("use aclGetDataBufferSizeV2")
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);

/** Returns the size of a holder, or 0 for a null holder. */
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

/* ------------------------------------------------------------------------------------------------------------
 * What this system can do
 * ------------------------------------------------------------------------------------------------------------ */

/** An option that changes how operators compute, set for a context or for the process. */
typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,            /**< 0 to 3: how strictly results repeat */
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,      /**< use kernels with built-in checks */
    ACL_OPT_STRONG_CONSISTENCY = 2,       /**< same result for every batch size */
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3 /**< let a kernel start before its predecessor ends */
} aclSysParamOpt;

/** A feature that the software and the chip may offer. */
typedef enum aclCannAttr {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,    /**< infinities and NaN as IEEE 754 defines them */
    ACL_CANN_ATTR_BF16 = 1,       /**< the data type bfloat16 */
    ACL_CANN_ATTR_JIT_COMPILE = 2 /**< operators compiled at run time */
} aclCannAttr;

/** A figure of a device for aclGetDeviceCapability. */
typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2 /**< bytes */
} aclDeviceInfo;

/** Returns the features that this system offers. The list belongs to the library and stays valid. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);

/** Says whether this system offers a feature: 1 or 0 in `value`. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

/** Reads a figure of a device by its number. Needs no current context. */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value);

/**
 * Returns the name of the chip, or null when it is unknown. The text belongs to the library. May be called before
 * aclInit.
 */
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);

/* ------------------------------------------------------------------------------------------------------------
 * Logging
 * ------------------------------------------------------------------------------------------------------------ */

/** The weight of a log line. */
typedef enum aclLogLevel { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

/**
 * Writes a line of the application to the runtime's log. `fmt` and what follows are as for printf; a line holds
 * at most 1,024 bytes. Safe from any thread.
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                                   const char* fmt, ...);

/** Writes a log line with the caller's function, file and line. */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_BASE_RT_H */
