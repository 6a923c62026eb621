// SPDX-License-Identifier: Apache-2.0
// Small string helpers shared by several parts of the driver.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace canopy_cc {

inline bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

inline bool is_any(std::string_view text, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

// Calls `take` with every line, its newline included.
template <class Take>
void for_each_line(std::string_view text, Take take) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        take(text.substr(at, end - at));
        at = end;
    }
}

}  // namespace canopy_cc
