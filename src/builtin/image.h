// SPDX-License-Identifier: Apache-2.0
// The image of the runtime's own kernels (kernels.cpp), part of the library: it needs no installed file.
#pragma once

#include <cstddef>
#include <span>

namespace canopy {

// Empty if the library was built without canopy-cc.
std::span<const std::byte> builtin_image() noexcept;

}  // namespace canopy
