// SPDX-License-Identifier: Apache-2.0
// Names of functions as their source has them.
#pragma once

#include <string>

namespace canopy {

// "_Z3addIfEvPT_" becomes "void add<float>(float*)"; what is no such name stays.
std::string readable_name(const std::string& name);
// The same without result and parameters: "add<float>".
std::string short_name(const std::string& name);

}  // namespace canopy
