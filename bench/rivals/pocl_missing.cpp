// SPDX-License-Identifier: Apache-2.0
// Replaces pocl.cpp if the OpenCL headers are missing.
#include "rivals/pocl.h"

namespace bench {

std::unique_ptr<Pocl> Pocl::open() { return nullptr; }
std::string Pocl::version() { return "PoCL not installed"; }

}  // namespace bench
