// SPDX-License-Identifier: Apache-2.0
// The matrix product's panels and register tiles for one vector width; src/CMakeLists.txt sets the compiler flags.
#define CANOPY_PRODUCT_LANES 8
#include "device/soft/product/product_vector.h"

namespace canopy {

const ProductTiles product_tiles_avx2 = make_tiles<4, 3>(256, false);

}  // namespace canopy
