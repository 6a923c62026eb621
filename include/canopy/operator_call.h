/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library of an operator project needs of libopapi: to read the arguments of an operator, and to make an
 * executor that runs its own code. Everything is C, so that the two may be compiled differently.
 */
#ifndef CANOPY_OPERATOR_CALL_H
#define CANOPY_OPERATOR_CALL_H

#include <acl/acl_base_rt.h>
#include <aclnn/aclnn_base.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Valid as long as the tensor lives. */
typedef struct CanopyTensorView {
    const int64_t* shape;
    const int64_t* strides; /* in elements */
    uint64_t rank;
    int64_t offset; /* in elements */
    aclDataType type;
    aclFormat format;
    void* data;
} CanopyTensorView;

/* The work of an executor. `state` is passed to both functions; `destroy` is called once, when the executor ends. */
typedef struct CanopyOperatorWork {
    aclnnStatus (*run)(void* state, void* workspace, uint64_t workspace_size, aclrtStream stream);
    void (*destroy)(void* state);
    void* state;
} CanopyOperatorWork;

/* The arguments must not be null. */
ACL_FUNC_VISIBILITY void canopyOperatorTensor(const aclTensor* tensor, CanopyTensorView* view);
ACL_FUNC_VISIBILITY const aclTensor* canopyOperatorTensorAt(const aclTensorList* list, uint64_t index);
ACL_FUNC_VISIBILITY const int64_t* canopyOperatorInts(const aclIntArray* array, uint64_t* count);
ACL_FUNC_VISIBILITY const float* canopyOperatorFloats(const aclFloatArray* array, uint64_t* count);
ACL_FUNC_VISIBILITY const unsigned char* canopyOperatorBools(const aclBoolArray* array, uint64_t* count);

/* Makes an executor; takes the state over if it succeeds. */
ACL_FUNC_VISIBILITY aclnnStatus canopyOperatorExecutor(const CanopyOperatorWork* work, aclOpExecutor** executor);
/* The second step of an operator. */
ACL_FUNC_VISIBILITY aclnnStatus canopyOperatorRun(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
