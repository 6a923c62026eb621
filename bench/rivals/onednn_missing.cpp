// SPDX-License-Identifier: Apache-2.0
// Replaces onednn.cpp if oneDNN is missing.
#include "rivals/onednn.h"

namespace bench {

std::unique_ptr<OneDnn> OneDnn::open() { return nullptr; }
std::string OneDnn::version() { return "oneDNN not installed"; }

}  // namespace bench
