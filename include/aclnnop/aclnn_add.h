/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out = self + alpha * other, with the shapes of self and other broadcast to that of out. The three tensors have one
 * type: 16-, 32- and 64-bit floats, bfloat16, whole numbers. The first function checks and makes an executor; the
 * second queues the work on a stream. No workspace is needed. Link with opapi.
 */
#ifndef CANOPY_ACLNNOP_ACLNN_ADD_H
#define CANOPY_ACLNNOP_ACLNN_ADD_H

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                         const aclScalar* alpha, aclTensor* out,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAdd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

/* The same with self as the result. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceAddGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other,
                                                                const aclScalar* alpha, uint64_t* workspaceSize,
                                                                aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceAdd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
