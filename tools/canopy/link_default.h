// SPDX-License-Identifier: Apache-2.0
// `canopy link-default`: creates links to this install tree in the folders where scripts look for the toolkit by
// default.
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

// Exit status. 0: everything is as requested. 1: something was in the way, or the user declined. 2: it cannot start.
int link_default(const LinkDefaultOptions& options);

}  // namespace canopy_tool
