// SPDX-License-Identifier: Apache-2.0
// Versions of installed packages, read from share/info/<package>/version.info of the install tree, and the number a
// version is compared by. Pure functions over files; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

// The install tree: $ASCEND_HOME_PATH, or the directory above the one this library was loaded from.
std::string install_root();

// What the package's file says. 100003 when there is no such file or no version in it.
Result<std::string> package_version(std::string_view package);

// "8.5.0" is 80500000; a pre-release sorts below its release: alpha n is 300 less and n more, beta 200, rc 100.
// 500000 when the text does not begin with a number.
Result<std::int32_t> version_number(std::string_view version);

}  // namespace canopy
