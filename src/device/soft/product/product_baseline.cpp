// SPDX-License-Identifier: Apache-2.0
// The matrix product's panels and register tiles for one vector width; src/CMakeLists.txt sets the compiler flags.
#define CANOPY_PRODUCT_LANES 4
#include "device/soft/product/product_vector.h"

namespace canopy {

const ProductTiles product_tiles_baseline = make_tiles<4, 2>(256, false);

}  // namespace canopy
