// SPDX-License-Identifier: Apache-2.0
// Which command one is: a task of a stream, or one of a graph that is replayed.
#pragma once

#include <cstdint>

#include "device/command.h"

namespace canopy {

struct CommandPlace {
    std::uint32_t stream = 0;           // its number; in a graph that of the stream which recorded the lane
    std::uint32_t task = 0;             // Command::task
    const Executable* graph = nullptr;  // null: a task of the stream itself
    GraphPlace in_graph{};
};

}  // namespace canopy
