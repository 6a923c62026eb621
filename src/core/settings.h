// SPDX-License-Identifier: Apache-2.0
// What the environment says about the machine to simulate, read once when the runtime is made. The JSON file of
// aclInit can change the parts that are allowed to change before the first device is opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/chip.h"

namespace canopy {

struct Settings {
    std::string backend = "soft";          // CANOPY_DEVICE: soft, null
    std::uint32_t device_count = 4;        // CANOPY_DEVICE_COUNT
    const Chip* chip = nullptr;            // CANOPY_CHIP, by name
    std::uint64_t memory = 0;              // CANOPY_DEVICE_MEMORY: bytes of one device, with K/M/G; 0: by machine
    std::uint32_t workers = 0;             // CANOPY_WORKERS: threads of one device; 0: by machine
    bool checking = false;                 // CANOPY_CHECK=1
    std::uint32_t stack_size = 0;          // bytes of a block's stack; 0: default
    std::vector<std::uint32_t> visible;    // ASCEND_RT_VISIBLE_DEVICES applied: physical number of each device
    std::vector<std::string> problems;     // what could not be understood, in words, for `canopy info`
};

Settings read_settings();

}  // namespace canopy
