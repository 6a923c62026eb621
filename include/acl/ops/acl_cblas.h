/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products as single operators, which Canopy does not have: using a name of them is an error that says so.
 */
#ifndef CANOPY_INCLUDE_ACL_OPS_ACL_CBLAS_H
#define CANOPY_INCLUDE_ACL_OPS_ACL_CBLAS_H

#include "../acl.h"
#include "../canopy_unavailable.h"

#define CANOPY_NO_BLAS \
    "Canopy runs kernels: it has no aclblas functions; a kernel computes products with Matmul (lib/matmul_intf.h)"

#ifdef __cplusplus
extern "C" {
#endif

CANOPY_NO_TYPE(aclTransType, CANOPY_NO_BLAS);
CANOPY_NO_TYPE(aclComputeType, CANOPY_NO_BLAS);

CANOPY_NO_CONSTANT(ACL_TRANS_N, CANOPY_NO_BLAS);
CANOPY_NO_CONSTANT(ACL_TRANS_T, CANOPY_NO_BLAS);
CANOPY_NO_CONSTANT(ACL_TRANS_NZ, CANOPY_NO_BLAS);
CANOPY_NO_CONSTANT(ACL_TRANS_NZ_T, CANOPY_NO_BLAS);
CANOPY_NO_CONSTANT(ACL_COMPUTE_HIGH_PRECISION, CANOPY_NO_BLAS);
CANOPY_NO_CONSTANT(ACL_COMPUTE_LOW_PRECISION, CANOPY_NO_BLAS);

CANOPY_NO_FUNCTION(aclError, aclblasGemvEx, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForGemvEx, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasHgemv, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForHgemv, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasS8gemv, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForS8gemv, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasGemmEx, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForGemmEx, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasHgemm, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForHgemm, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasS8gemm, CANOPY_NO_BLAS);
CANOPY_NO_FUNCTION(aclError, aclblasCreateHandleForS8gemm, CANOPY_NO_BLAS);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_OPS_ACL_CBLAS_H */
