// SPDX-License-Identifier: Apache-2.0
// The checking code of images (canopy/kernel_check.h) that were compiled without it, made from the texts that canopy-cc
// keeps in the cache of compiled code. What was made is kept there, too.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/problem.h"

namespace canopy {

// As LaunchChecker::checking_code.
Expected<std::vector<std::byte>> checking_code(const std::string& text, std::string_view kernel);

}  // namespace canopy
