/* SPDX-License-Identifier: Apache-2.0 */
/* What all operators share: the objects they work on, the codes they answer, and the start and end of the library. */
#ifndef CANOPY_ACLNN_ACLNN_BASE_H
#define CANOPY_ACLNN_ACLNN_BASE_H

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACLNN_SUCCESS 0
#define ACLNN_ERR_PARAM_NULLPTR 161001 /* an argument that must not be null is */
#define ACLNN_ERR_PARAM_INVALID 161002 /* types or shapes do not go together, or are not supported */
#define ACLNN_ERR_RUNTIME_ERROR 361001 /* a call of the runtime failed */
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_TILING_ERROR 561002      /* the tiling function of an operator failed */
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003 /* there is no code for these types on this chip */

/** Nothing has to be prepared; both exist for programs that call them. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
