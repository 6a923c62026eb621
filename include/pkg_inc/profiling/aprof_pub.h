/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For types shared by profilers and their clients. Programs include it together with the lower interface; the profiling
 * functions that programs call are in acl/acl_prof.h.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H
#define CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H

#include <stdint.h>

#endif /* CANOPY_INCLUDE_PKG_INC_PROFILING_APROF_PUB_H */
