/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The single-operator interface, which Canopy does not have: using a name of it is an error that says so. The
 * header exists because programs and acl.h include it by name.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_OP_H
#define CANOPY_INCLUDE_ACL_ACL_OP_H

#include "acl_base.h"
#include "canopy_unavailable.h"

#define CANOPY_NO_OPERATORS                                                                              \
    "Canopy runs kernels: it has no library of single operators (aclop); launch a kernel, or call what " \
    "include/aclnnop has"

#ifdef __cplusplus
extern "C" {
#endif

CANOPY_NO_TYPE(aclopHandle, CANOPY_NO_OPERATORS);
CANOPY_NO_TYPE(aclopAttr, CANOPY_NO_OPERATORS);
CANOPY_NO_TYPE(aclopKernelDesc, CANOPY_NO_OPERATORS);
CANOPY_NO_TYPE(aclopCompileFunc, CANOPY_NO_OPERATORS);
CANOPY_NO_TYPE(aclopEngineType, CANOPY_NO_OPERATORS);
CANOPY_NO_TYPE(aclDataDeallocator, CANOPY_NO_OPERATORS);

CANOPY_NO_CONSTANT(ACL_ENGINE_SYS, CANOPY_NO_OPERATORS);
CANOPY_NO_CONSTANT(ACL_ENGINE_AICORE, CANOPY_NO_OPERATORS);
CANOPY_NO_CONSTANT(ACL_ENGINE_VECTOR, CANOPY_NO_OPERATORS);

CANOPY_NO_FUNCTION(aclError, aclopSetModelDir, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopLoad, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopRegisterCompileFunc, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopUnregisterCompileFunc, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopCreateKernel, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetKernelArgs, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetKernelWorkspaceSizes, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopUpdateParams, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetMaxOpQueueNum, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(void*, aclopCreateAttr, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(void, aclopDestroyAttr, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrBool, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrInt, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrFloat, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrString, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrDataType, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListBool, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListInt, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListFloat, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListString, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListListInt, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopSetAttrListDataType, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopExecute, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopExecuteV2, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopExecWithHandle, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopCast, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopCreateHandle, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopCreateHandleForCast, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(void, aclopDestroyHandle, CANOPY_NO_OPERATORS);
CANOPY_NO_FUNCTION(aclError, aclopInferShape, CANOPY_NO_OPERATORS);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_ACL_OP_H */
