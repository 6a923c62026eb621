// SPDX-License-Identifier: Apache-2.0
// --sanitizer: the compiler adds checks to the device code, and the image contains the functions called when a check
// fails. They end the block with the source line, so that the message reaches the thread that waits for the task.
#pragma once

#include <string>
#include <vector>

namespace canopy_cc {

// Flags for compiling device code.
std::vector<std::string> sanitizer_flags();

// Code to append to the device text.
std::string sanitizer_text();

// Code to append to the host text: makes the library check device memory too.
std::string sanitizer_host_text();

}  // namespace canopy_cc
