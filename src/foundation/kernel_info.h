// SPDX-License-Identifier: Apache-2.0
// Description of one kernel: written into images by canopy-cc, read by devices and by the runtime above them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy {

// The core types of canopy/kernel_abi.h, and CPU cores.
enum class CoreType : std::uint8_t { aicore = 0, cube = 1, vector = 2, mix = 3, cpu = 100 };

struct ParameterInfo {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t alignment = 8;
};

struct KernelInfo {
    std::string name;
    CoreType core = CoreType::vector;
    std::uint16_t cube_ratio = 0;    // cube cores per group, mix kernels
    std::uint16_t vector_ratio = 1;  // vector cores per group
    bool batch = false;              // scheduling mode set in the kernel
    bool simt = false;               // the last slot of its argument block is a CanopyGrid
    bool list = false;               // a ListKernel (device/fused_list.h): launches run a fused kernel made from it
    std::uint32_t arguments_size = 0;
    std::uint64_t code_size = 0;
    std::vector<ParameterInfo> parameters;
    std::string source;  // file the kernel was compiled from
    std::string key;     // how a launch in the same source refers to it; may be empty
};

}  // namespace canopy
