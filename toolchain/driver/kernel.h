// SPDX-License-Identifier: Apache-2.0
// What the steps of canopy-cc hand to each other about one kernel.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace canopy_cc {

struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t alignment = 8;
};

struct KernelDescription {
    std::string name;    // what aclrtBinaryGetFunction looks for
    std::string key;     // __PRETTY_FUNCTION__: what a launch looks for
    std::string symbol;  // of the function itself
    std::string entry;   // of the function that takes the argument block
    std::string source;
    unsigned line = 0;
    std::uint32_t core_type = CANOPY_CORE_VECTOR;
    std::uint16_t cube_ratio = 0;
    std::uint16_t vector_ratio = 1;
    std::uint32_t schedule_mode = 0;
    std::uint32_t flags = 0;
    std::uint32_t arguments_size = 0;
    std::vector<Parameter> parameters;
};

}  // namespace canopy_cc
