// SPDX-License-Identifier: Apache-2.0
// Reductions in stream order, by a kernel. Any thread.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "builtin/arguments.h"

namespace canopy {

[[nodiscard]] std::size_t size_of(ElementType type) noexcept;
// Both ranges are device memory, checked by the caller.
Status reduce_in_stream(const Reduction& work, const void* stream);

}  // namespace canopy
