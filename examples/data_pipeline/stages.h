// SPDX-License-Identifier: Apache-2.0
// What the program tells a stage.
#pragma once

#include <cstdint>

struct StageArguments {
    std::uint32_t from;  // the queue it takes from
    std::uint32_t to;    // the queue it puts into
    float factor;        // of the stage that scales
};
