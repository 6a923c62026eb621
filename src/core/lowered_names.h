// SPDX-License-Identifier: Apache-2.0
// How name expressions of a program find their way into its image and back: for each expression the source gets a
// variable that holds its address, and the image says which symbol that address belongs to. Used by run-time
// compilation. Threads: functions without state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace canopy {

// Source text to append: instantiates and refers to what each expression names. A mistake in an expression is
// reported with the expression as the file's name.
std::string name_expression_text(const std::vector<std::string>& expressions);

// The names under which the image knows them, in the same order: of a kernel for lookup, else the symbol's.
Result<std::vector<std::string>> lowered_names(std::span<const std::byte> image, std::size_t count);

// "#line <line> \"<file>\"", with what would end the text escaped.
std::string line_directive(unsigned line, const std::string& file);

}  // namespace canopy
