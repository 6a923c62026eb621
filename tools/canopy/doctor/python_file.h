// SPDX-License-Identifier: Apache-2.0
// Splits Python text into tokens, without comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace canopy_tool {

struct PythonToken {
    enum class Kind { name, text, sign, new_line };
    Kind kind = Kind::sign;
    std::string text;  // of a string: the part between the quotes
    unsigned line = 0;
};

std::vector<PythonToken> read_python(std::string_view text);

}  // namespace canopy_tool
