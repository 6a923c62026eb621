// SPDX-License-Identifier: Apache-2.0
// What files say about the process that writes them. Any thread.
#pragma once

#include <string>

#include "profile/profile_format.h"

namespace canopy::record {

profile::FileHead head_of_process();
std::string program_path();
// As one would type it.
std::string command_line();

}  // namespace canopy::record
