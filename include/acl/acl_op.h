/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of the single-operator interface. The runtime declares none of it; the header exists
 * because programs and acl.h include it by name.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_OP_H
#define CANOPY_INCLUDE_ACL_ACL_OP_H

#include "acl_base.h"

#endif /* CANOPY_INCLUDE_ACL_ACL_OP_H */
