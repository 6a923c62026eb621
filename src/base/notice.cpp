// SPDX-License-Identifier: Apache-2.0
#include "base/notice.h"

#include <cstdio>
#include <string>

namespace canopy {

void print_notice(std::string_view text) noexcept {
    try {
        std::string line = "canopy: ";
        line.append(text).push_back('\n');
        std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (...) {  // no memory for the line
    }
}

}  // namespace canopy
