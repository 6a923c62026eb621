// SPDX-License-Identifier: Apache-2.0
// Argument blocks as queues and graphs keep them.
#pragma once

#include <cstring>

#include "device/command.h"

namespace canopy {

// Points the slots of placeholders at the data in the same block, once it lies where it will be used.
inline void fill_placeholders(const LaunchWork& launch, char* arguments) noexcept {
    for (std::uint16_t i = 0; i < launch.placeholder_count; ++i) {
        const char* data = arguments + launch.placeholders[i].data_offset;
        std::memcpy(arguments + launch.placeholders[i].address_offset, &data, sizeof(data));
    }
}

}  // namespace canopy
