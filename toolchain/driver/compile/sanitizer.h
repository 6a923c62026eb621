// SPDX-License-Identifier: Apache-2.0
// --sanitizer: the compiler puts checks into the device code, and the functions it calls when one fails are part of the
// image. They end the block with the line of the source, so that the message reaches the thread that waits for the
// task.
#pragma once

#include <string>
#include <vector>

namespace canopy_cc {

// For compiling device code.
std::vector<std::string> sanitizer_flags();

// For the end of the device text.
std::string sanitizer_text();

// For the end of the host text: asks the library to watch the memory of devices too.
std::string sanitizer_host_text();

}  // namespace canopy_cc
