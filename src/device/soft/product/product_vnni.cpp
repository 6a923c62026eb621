// SPDX-License-Identifier: Apache-2.0
// The matrix product's panels and register tiles for one vector width; src/CMakeLists.txt sets the compiler flags.
#define CANOPY_PRODUCT_LANES 16
#include "device/soft/product/product_vector.h"

namespace canopy {

const ProductTiles product_tiles_vnni = make_tiles<8, 3>(384, true);

}  // namespace canopy
