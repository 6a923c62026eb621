// SPDX-License-Identifier: Apache-2.0
// `canopy top`: the programs of this user that use Canopy, and what their devices do, again and again.
#pragma once

namespace canopy_tool {

struct TopOptions {
    int process = 0;        // 0: all
    double interval = 0.5;  // seconds
    bool once = false;
    bool json = false;
};

// The exit status: 0, or 1 if the one process that was asked for does not use Canopy.
int run_top(const TopOptions& options);

}  // namespace canopy_tool
