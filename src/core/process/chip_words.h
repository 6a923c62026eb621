// SPDX-License-Identifier: Apache-2.0
// Facts about the chip by the words that platform files use for them: a section and a key. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

// "version" and "Short_SoC_version" give "Ascend910B". 107000 for a word that is not known, with those that are.
Result<std::string> chip_word(std::string_view section, std::string_view key);

}  // namespace canopy
