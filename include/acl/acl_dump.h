/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumping of operator data and of the state around a failed kernel. Used by debugging tools and by libraries
 * that attach their own data to an exception. Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_DUMP_H
#define CANOPY_INCLUDE_ACL_ACL_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Dump
 * ------------------------------------------------------------------------------------------------------------ */

/** Sizes of the arrays in the structures below. */
#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096
#define ACL_DUMP_MAX_SHAPE_NUM 25

/** The dump of kernel arguments, for aclopStartDumpArgs. */
#define ACL_OP_DUMP_OP_AICORE_ARGS 1U

/** The kinds of dump, each with its own directory. */
typedef enum acldumpType {
    AIC_ERR_BRIEF_DUMP = 1,  /**< inputs and outputs of a failed kernel */
    AIC_ERR_NORM_DUMP = 2,   /**< the same, with the registers and the shared state */
    AIC_ERR_DETAIL_DUMP = 3, /**< the same, with the memory of the cores */
    DATA_DUMP = 4,           /**< data of operators that ran */
    OVERFLOW_DUMP = 5        /**< data of operators that overflowed */
} acldumpType;

/** The part a tensor plays for its operator. */
typedef enum acldumpTensorType {
    ACL_DUMP_TENSOR_INPUT = 0,
    ACL_DUMP_TENSOR_OUTPUT = 1,
    ACL_DUMP_TENSOR_WORKSPACE = 2
} acldumpTensorType;

/** How the address of a tensor is to be read. */
typedef enum acldumpTensorAddressType {
    ACL_DUMP_ADDR_PTR = 0,     /**< a pointer to the data */
    ACL_DUMP_ADDR_PTR_PTR = 1, /**< a pointer to a pointer to the data */
    ACL_DUMP_ADDR_RAW = 2      /**< the address itself */
} acldumpTensorAddressType;

/** The memory that holds a tensor. */
typedef enum acldumpTensorPlacement {
    ACL_DUMP_PLACEMENT_DEVICE = 0,
    ACL_DUMP_PLACEMENT_HOST = 1,
    ACL_DUMP_PLACEMENT_END = 2
} acldumpTensorPlacement;

/** One piece of a dump file, passed to a callback instead of being written. */
typedef struct acldumpChunk {
    char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH]; /**< the file that the piece belongs to */
    uint32_t bufLen;                              /**< bytes in dataBuf */
    uint32_t isLastChunk;                         /**< 1 on the last piece of a file */
    int64_t offset;                               /**< position in the file, or -1 to append */
    int32_t flag;                                 /**< reserved */
    __extension__ uint8_t dataBuf[0];             /**< bufLen bytes follow */
} acldumpChunk;

/** A tensor that is saved with an exception. */
typedef struct acldumpTensorInfo {
    acldumpTensorType type;
    size_t tensorSize; /**< bytes */
    int32_t format;    /**< an aclFormat */
    int32_t dataType;  /**< an aclDataType */
    int64_t* tensorAddr;
    acldumpTensorAddressType addrType;
    acldumpTensorPlacement placement;
    uint32_t argsOffset;     /**< place of its address in the kernel arguments */
    uint32_t shapeNum;       /**< entries of shape in use */
    uint32_t originShapeNum; /**< entries of originShape in use */
    uint64_t shape[ACL_DUMP_MAX_SHAPE_NUM];
    uint64_t originShape[ACL_DUMP_MAX_SHAPE_NUM];
} acldumpTensorInfo;

/** Sends dump data to a callback instead of to files. `flag` is 0. One callback at a time. */
ACL_FUNC_VISIBILITY aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk*, int32_t),
                                                int32_t flag);

/** Sends dump data to files again. */
ACL_FUNC_VISIBILITY void acldumpUnregCallback(void);

/** Starts the dump that `dumpType` names (ACL_OP_DUMP_OP_AICORE_ARGS) into the directory `path`. */
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);

/** Stops the dump that `dumpType` names. */
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

/** Returns the directory of a kind of dump, or null when none is configured. The text belongs to the library. */
ACL_FUNC_VISIBILITY const char* acldumpGetPath(acldumpType dumpType);

/** Writes the directory for data of the current exception into `path`, which holds `maxLen` bytes. */
ACL_FUNC_VISIBILITY aclError acldumpGetExceptionInfoPath(char* path, size_t maxLen);

/**
 * Saves tensors with the current exception, in a file whose name starts with `fileName`. Addresses must be raw
 * device addresses.
 */
ACL_FUNC_VISIBILITY aclError acldumpSaveExceptionInfo(const char* fileName, const char* userTag,
                                                      const acldumpTensorInfo* tensors, size_t tensorCount);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_DUMP_H */
