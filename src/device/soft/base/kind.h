// SPDX-License-Identifier: Apache-2.0
// The kind tag of objects created by the software NPU.
#pragma once

#include "device/backend.h"

namespace canopy {

inline constexpr DeviceKind soft_kind{"soft"};

[[nodiscard]] inline bool is_soft(const Fence& fence) noexcept { return &fence.kind() == &soft_kind; }
[[nodiscard]] inline bool is_soft(const Executable& executable) noexcept { return &executable.kind() == &soft_kind; }
[[nodiscard]] inline bool is_soft(const Kernel& kernel) noexcept { return kernel.kind == &soft_kind; }

}  // namespace canopy
