// SPDX-License-Identifier: Apache-2.0
// Versions of installed packages, read from share/info/<package>/version.info in the install tree, and version numbers
// for comparison. Pure functions over files; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace canopy {

// The install tree: $ASCEND_HOME_PATH, or the directory above the one this library was loaded from.
std::string install_root();

// The version in the package's file. 100003 if there is no such file or it has no version.
Result<std::string> package_version(std::string_view package);

// "8.5.0" is 80500000; a pre-release sorts below its release: alpha n is 300 less plus n, beta 200, rc 100. 500000 if
// the text does not begin with a number.
Result<std::int32_t> version_number(std::string_view version);

}  // namespace canopy
