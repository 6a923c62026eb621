// SPDX-License-Identifier: Apache-2.0
// `canopy link-default`: links to this install tree in the folders where scripts look for the toolkit by default.
#pragma once

#include <string>

namespace canopy_tool {

struct LinkDefaultOptions {
    std::string prefix;  // empty: ~/Ascend
    bool system = false;
    bool remove = false;
    bool yes = false;
    bool dry_run = false;
};

// 0: everything is as asked. 1: something stood in the way, or the answer was no. 2: it cannot even begin.
int link_default(const LinkDefaultOptions& options);

}  // namespace canopy_tool
