// SPDX-License-Identifier: Apache-2.0
// Argument blocks stored by queues and graphs.
#pragma once

#include <cstring>

#include "device/command.h"

namespace canopy {

// Points the placeholder slots at the data in the same block, once the block is at its final address.
inline void fill_placeholders(const LaunchWork& launch, char* arguments) noexcept {
    for (std::uint16_t i = 0; i < launch.placeholder_count; ++i) {
        const char* data = arguments + launch.placeholders[i].data_offset;
        std::memcpy(arguments + launch.placeholders[i].address_offset, &data, sizeof(data));
    }
}

}  // namespace canopy
