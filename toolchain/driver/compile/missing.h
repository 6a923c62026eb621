// SPDX-License-Identifier: Apache-2.0
// Explains errors of the compiler that come from names and headers Canopy does not have yet. The table
// share/canopy/unsupported.tsv lists them; tools/apigen/language.py writes it.
#pragma once

#include <string>

namespace canopy_cc {

// The messages of a compiler that failed, with a note behind the first error about each name the table lists.
std::string explain_missing_names(const std::string& messages, const std::string& table_path);

}  // namespace canopy_cc
