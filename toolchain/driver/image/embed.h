// SPDX-License-Identifier: Apache-2.0
// An object file that holds a kernel image as data, for the linker to add to the host code.
#pragma once

#include <string>

namespace canopy_cc {

// Defines `symbol` (the bytes, aligned to 64) and `symbol`_size. Hidden, and in a separate group: the same image in
// two objects of a program is kept once.
std::string embedded_object(const std::string& image, const std::string& symbol);

}  // namespace canopy_cc
