// SPDX-License-Identifier: Apache-2.0
// How many data buffers are alive, for leak checks.
#pragma once

#include <cstdint>

namespace canopy {

std::uint64_t live_data_buffers() noexcept;

}  // namespace canopy
