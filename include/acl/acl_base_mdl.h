/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of tensors for models and single operators, which Canopy does not have: using a name of them is
 * an error that says so. The header exists because programs and acl_base.h include it by name.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H
#define CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H

#include "acl_base_rt.h"
#include "canopy_unavailable.h"

#define CANOPY_NO_TENSOR_DESCRIPTIONS \
    "Canopy runs kernels, not models or single operators: it has no descriptions of tensors (aclTensorDesc)"

#ifdef __cplusplus
extern "C" {
#endif

CANOPY_NO_TYPE(aclTensorDesc, CANOPY_NO_TENSOR_DESCRIPTIONS);

CANOPY_NO_FUNCTION(void*, aclCreateTensorDesc, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(void, aclDestroyTensorDesc, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorShapeRange, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclDataType, aclGetTensorDescType, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclFormat, aclGetTensorDescFormat, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(size_t, aclGetTensorDescSize, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(size_t, aclGetTensorDescElementCount, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(size_t, aclGetTensorDescNumDims, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(int64_t, aclGetTensorDescDim, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclGetTensorDescDimV2, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclGetTensorDescDimRange, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(void, aclSetTensorDescName, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(const char*, aclGetTensorDescName, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclTransTensorDescFormat, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorStorageFormat, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorStorageShape, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorFormat, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorShape, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorOriginFormat, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorOriginShape, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(void*, aclGetTensorDescByIndex, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(void*, aclGetTensorDescAddress, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorDynamicInput, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorConst, CANOPY_NO_TENSOR_DESCRIPTIONS);
CANOPY_NO_FUNCTION(aclError, aclSetTensorPlaceMent, CANOPY_NO_TENSOR_DESCRIPTIONS);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H */
