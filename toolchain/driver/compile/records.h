// SPDX-License-Identifier: Apache-2.0
// What the compiler left in an object about its kernels, and the constructors of host code that an image must not run.
#pragma once

#include <string>
#include <vector>

#include "compile/kernel.h"

namespace canopy_cc {

// Reads the records of canopy_kernel/target/entry.h out of a compiled object, in the order of their lines. Returns an
// empty text, or what is wrong with the object.
std::string read_records(const std::string& object, std::vector<KernelDescription>& kernels);

// The symbols that the pointers of a section stand for, in their order.
std::vector<std::string> pointed_symbols(const std::string& object, const std::string& section_name);

// Marks the sections of constructors so that the linker leaves them out.
void drop_constructors(std::string& object);

}  // namespace canopy_cc
