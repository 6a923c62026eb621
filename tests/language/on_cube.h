// SPDX-License-Identifier: Apache-2.0
// Runs a piece of kernel code on a cube core of the device (see on_core.h).
#ifndef CANOPY_TESTS_LANGUAGE_ON_CUBE_H
#define CANOPY_TESTS_LANGUAGE_ON_CUBE_H

#include "on_core.h"

template <class Case>
__global__ __cube__ void run_cube_case(GM_ADDR memory, Case what) {
    what.run(memory);
}

template <class Case>
std::string run_on_cube(const Case& what, std::vector<uint8_t>& memory) {
    return run_launch(memory, [&](uint8_t* device, aclrtStream stream) {
        return run_cube_case<Case><<<1, nullptr, stream>>>(device, what);
    });
}

#endif
