/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The umbrella header: programs include it to get the whole runtime interface. It declares nothing
 * itself. The C++ conveniences of acl_rt_api.h, and the headers for channels, queues, profiling,
 * dump and platform data, must be included separately.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_H
#define CANOPY_INCLUDE_ACL_ACL_H

#include "acl_rt.h"

#include "acl_mdl.h"
#include "acl_op.h"

#endif /* CANOPY_INCLUDE_ACL_ACL_H */
