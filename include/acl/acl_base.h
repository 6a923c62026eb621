/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base of the interface: handles, error codes, data types and logging. Every other header of
 * this directory includes it; programs may include it alone.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_BASE_H
#define CANOPY_INCLUDE_ACL_ACL_BASE_H

#include "acl_base_mdl.h"
#include "acl_base_rt.h"

#endif /* CANOPY_INCLUDE_ACL_ACL_BASE_H */
