// SPDX-License-Identifier: Apache-2.0
// Facts about the chip, looked up by the section and key that platform files use. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

// "version" and "Short_SoC_version" give "Ascend910B". 107000 for an unknown key; the message lists the known ones.
Result<std::string> chip_word(std::string_view section, std::string_view key);

}  // namespace canopy
