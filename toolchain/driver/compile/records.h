// SPDX-License-Identifier: Apache-2.0
// Reads the kernel records of a compiled object, and removes host constructors that an image must not run.
#pragma once

#include <string>
#include <vector>

#include "compile/kernel.h"

namespace canopy_cc {

// Reads the records of canopy_kernel/target/entry.h out of a compiled object, in source order. Returns an empty string,
// or what is wrong with the object.
std::string read_records(const std::string& object, std::vector<KernelDescription>& kernels);

// The symbols that the pointers of a section refer to, in order.
std::vector<std::string> pointed_symbols(const std::string& object, const std::string& section_name);

// Marks the constructor sections so that the linker drops them.
void drop_constructors(std::string& object);

}  // namespace canopy_cc
