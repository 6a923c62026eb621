// SPDX-License-Identifier: Apache-2.0
// The SHA-256 digest (FIPS 180-4) of an image, as stored in metadata files.
#pragma once

#include <string>
#include <string_view>

namespace canopy {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace canopy
