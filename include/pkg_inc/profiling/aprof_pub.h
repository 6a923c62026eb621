/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of types that profilers and their clients share. Programs include it together with the lower interface; the
 * functions of profiling that programs call are in acl/acl_prof.h.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H
#define CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H

#include <stdint.h>

#endif /* CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H */
