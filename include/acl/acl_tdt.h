/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that carry tensors between the host and a device. A channel is a bounded queue with a name; a dataset
 * is a list of data items, a data item a described tensor. A channel may be used by several threads at once, a
 * dataset by one.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_TDT_H
#define CANOPY_INCLUDE_ACL_ACL_TDT_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A channel. */
typedef struct acltdtChannelHandle acltdtChannelHandle;

/** A list of data items that travels as one. */
typedef struct acltdtDataset acltdtDataset;

/** A tensor with its type and shape, or a mark in the sequence. */
typedef struct acltdtDataItem acltdtDataItem;

/** What a data item is. */
typedef enum acltdtTensorType {
    ACL_TENSOR_DATA_UNDEFINED = -1,
    ACL_TENSOR_DATA_TENSOR = 0,
    ACL_TENSOR_DATA_END_OF_SEQUENCE = 1, /**< no more data follows */
    ACL_TENSOR_DATA_ABNORMAL = 2,        /**< the sender failed */
    ACL_TENSOR_DATA_SLICE_TENSOR = 3,    /**< a part of a large tensor */
    ACL_TENSOR_DATA_END_TENSOR = 4       /**< the last part of a large tensor */
} acltdtTensorType;

/* ------------------------------------------------------------------------------------------------------------
 * Channels
 * ------------------------------------------------------------------------------------------------------------ */

/** Creates a channel on a device. Returns null when the name is null or taken. */
ACL_FUNC_VISIBILITY acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name);

/**
 * Creates a channel that holds at most `capacity` datasets (2 to 8,192). Returns null when that is not possible.
 */
ACL_FUNC_VISIBILITY acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name,
                                                                         size_t capacity);

/**
 * Wakes the threads that wait in a send or receive on the channel. Later calls work as before. Comes before
 * acltdtDestroyChannel.
 */
ACL_FUNC_VISIBILITY aclError acltdtStopChannel(acltdtChannelHandle* handle);

/** Destroys a channel. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyChannel(acltdtChannelHandle* handle);

/** Drops the datasets that a channel holds. */
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel(acltdtChannelHandle* handle);

/** Returns the number of datasets that a channel created with a capacity holds. */
ACL_FUNC_VISIBILITY aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size);

/**
 * Puts a dataset into a channel. `timeout` is in milliseconds: -1 waits for room, 0 does not wait and gives
 * ACL_ERROR_RT_QUEUE_FULL.
 */
ACL_FUNC_VISIBILITY aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset,
                                              int32_t timeout);

/**
 * Takes a dataset out of a channel into `dataset`. `timeout` is in milliseconds: -1 waits for data, 0 does not
 * wait and gives ACL_ERROR_RT_QUEUE_EMPTY. The received items belong to the dataset.
 */
ACL_FUNC_VISIBILITY aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset,
                                                 int32_t timeout);

/* ------------------------------------------------------------------------------------------------------------
 * Datasets
 * ------------------------------------------------------------------------------------------------------------ */

/** Creates an empty dataset. Returns null when host memory is exhausted. */
ACL_FUNC_VISIBILITY acltdtDataset* acltdtCreateDataset(void);

/** Destroys a dataset with the items that it received. Items that the user added are destroyed by the user. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataset(acltdtDataset* dataset);

/** Appends an item to a dataset, which does not take ownership. */
ACL_FUNC_VISIBILITY aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem);

/** Returns the item at `index`, or null. */
ACL_FUNC_VISIBILITY acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index);

/** Returns the number of items, 0 for a null dataset. */
ACL_FUNC_VISIBILITY size_t acltdtGetDatasetSize(const acltdtDataset* dataset);

/** Returns the name of a received dataset, or null. */
ACL_FUNC_VISIBILITY const char* acltdtGetDatasetName(const acltdtDataset* dataset);

/* ------------------------------------------------------------------------------------------------------------
 * Data items
 * ------------------------------------------------------------------------------------------------------------ */

/**
 * Describes `size` bytes at `data` as a tensor of `dimNum` dimensions. The data is not copied and must live as
 * long as the item. Returns null for unusable arguments.
 */
ACL_FUNC_VISIBILITY acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum,
                                                         aclDataType dataType, void* data, size_t size);

/** Destroys an item that the user created. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataItem(acltdtDataItem* dataItem);

/** Returns what an item is; ACL_TENSOR_DATA_UNDEFINED for null. */
ACL_FUNC_VISIBILITY acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem);

/** Returns the element type of an item; ACL_DT_UNDEFINED for null. */
ACL_FUNC_VISIBILITY aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem);

/** Returns the address of the data of an item, or null. */
ACL_FUNC_VISIBILITY void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem);

/** Returns the size in bytes of the data of an item; 0 for null. */
ACL_FUNC_VISIBILITY size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem);

/** Returns the number of dimensions of an item; 0 for null. */
ACL_FUNC_VISIBILITY size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem);

/**
 * Writes the dimensions of an item into `dims`, which holds `dimNum` entries: at least as many as the item has.
 */
ACL_FUNC_VISIBILITY aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum);

/** Returns how many parts a sliced tensor has and which part this item is. */
ACL_FUNC_VISIBILITY aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum,
                                                        size_t* sliceId);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_TDT_H */
