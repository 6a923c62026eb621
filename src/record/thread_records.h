// SPDX-License-Identifier: Apache-2.0
// What recording keeps for each thread. Used by that thread only.
#pragma once

#include <array>
#include <cstdint>

#include "profile/record.h"
#include "record/ring.h"

namespace canopy::record {

struct ThreadRecords {
    Ring* ring = nullptr;
    bool ended = false;
    bool named = false;
    profile::ThreadRole role = profile::ThreadRole::host;
    std::uint32_t index = 0;
    std::array<char, 32> name = {};
};
__attribute__((tls_model("initial-exec"))) inline thread_local constinit ThreadRecords thread_records;

}  // namespace canopy::record
