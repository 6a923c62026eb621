// SPDX-License-Identifier: Apache-2.0
// Explains compiler errors caused by names and headers that Canopy does not have yet. They are listed in
// share/canopy/unsupported.tsv, written by tools/apigen/language.py.
#pragma once

#include <string>

namespace canopy_cc {

// Adds a note to the messages of a failed compiler, after the first error about each name in the table.
std::string explain_missing_names(const std::string& messages, const std::string& table_path);

}  // namespace canopy_cc
