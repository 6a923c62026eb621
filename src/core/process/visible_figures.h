// SPDX-License-Identifier: Apache-2.0
// Makes this process visible to `canopy top` and `npu-smi` of its user: a file with figures (watch/figures_file.h),
// from the first device that is opened to the end of the process. Without such a file the program runs as before.
#pragma once

#include <cstdint>

namespace canopy {

class Device;

// The caller holds the lock under which devices are opened.
void show_figures(Device& device, std::uint32_t index, std::uint32_t physical) noexcept;

}  // namespace canopy
