// SPDX-License-Identifier: Apache-2.0
// `canopy info`: what programs would find on this machine in the current environment.
#pragma once

#include <iosfwd>

namespace canopy_tool {

// Both return the exit status of the command: 1 when the settings have problems or leave no device, 0 otherwise.
int print_text(std::ostream& out);
int print_json(std::ostream& out);

}  // namespace canopy_tool
