// SPDX-License-Identifier: Apache-2.0
// Finds out whether a source calls core instructions by name. Their headers take a fifth of the time needed to parse
// the kernel language, so sources that name none are compiled without them.
#pragma once

#include <string>

#include "options/tree.h"

namespace canopy_cc {

// `text` is preprocessed; code from headers of the tree and of the system is ignored. The tree's table has one name per
// line; without it the result is true.
bool mentions_instructions(const std::string& text, const Tree& tree);

}  // namespace canopy_cc
