// SPDX-License-Identifier: Apache-2.0
// Everything a host program needs to make tilings.
#ifndef CANOPY_TILING_TILING_API_H
#define CANOPY_TILING_TILING_API_H

#include "matmul_tiling.h"
#include "vector_tiling.h"

#endif
