// SPDX-License-Identifier: Apache-2.0
// The arguments of the inner runtime.
#pragma once

#include <cstdint>

struct Settings {
    std::uint32_t scale;
};

// One task: *result += scale * value * 10 + the version that did it.
struct Task {
    std::uint32_t* result;  // in device memory
    std::uint32_t value;
};
