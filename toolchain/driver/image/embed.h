// SPDX-License-Identifier: Apache-2.0
// Writes an object file with a kernel image as data, to link with the host code.
#pragma once

#include <string>

namespace canopy_cc {

// Defines `symbol` (the bytes, aligned to 64) and `symbol`_size. They are hidden and in a separate group, so the linker
// keeps one copy of an image that is in two objects of a program.
std::string embedded_object(const std::string& image, const std::string& symbol);

}  // namespace canopy_cc
