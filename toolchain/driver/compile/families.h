// SPDX-License-Identifier: Apache-2.0
// Finds out which families of the kernel language a source uses: core instructions, softmax, registers and so on.
// kernel_operator.h includes the headers of a family unless CANOPY_WITHOUT_<FAMILY> is defined. Together they take
// several times as long to parse as the rest of the language, so a source is compiled with those that it names.
#pragma once

#include <string>
#include <vector>

#include "options/tree.h"

namespace canopy_cc {

// The table of families in the tree, `family name` on each line: which names make a source need which family.
class Families {
public:
    // Without a table there are no families, and nothing is left out.
    explicit Families(const Tree& tree);

    // Definitions that leave out all families, and those that leave out what `text` does not need. The text is
    // preprocessed; code from headers of the tree and of the system is ignored.
    std::vector<std::string> without_all() const;
    std::vector<std::string> without_unused(const std::string& text) const;

private:
    const Tree& tree_;
    std::string table_;
};

}  // namespace canopy_cc
