// SPDX-License-Identifier: Apache-2.0
// Whether a source uses instructions of a core by their own names. Their headers take a fifth of the time that the
// kernel language takes to parse, so sources that name none do without them.
#pragma once

#include <string>

#include "options/tree.h"

namespace canopy_cc {

// `text` is preprocessed; what headers of the tree and of the system say in it does not count. The tree's table has one
// name per line; without it the answer is yes.
bool mentions_instructions(const std::string& text, const Tree& tree);

}  // namespace canopy_cc
