/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of the base types of the offline-model interface. The runtime declares none of them;
 * the header exists because programs include it by name.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H
#define CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H

#include "acl_base_rt.h"

#endif /* CANOPY_INCLUDE_ACL_ACL_BASE_MDL_H */
