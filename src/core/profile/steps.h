// SPDX-License-Identifier: Apache-2.0
// Steps of training or inference: their beginning and end on a stream, and the trace points of programs. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "profile/record.h"

namespace canopy {

Result<Handle> create_step();
void destroy_step(const void* step) noexcept;
// Queues a task that takes the time. Steps count from 1. 100000 for two starts or two ends in a row.
Status note_step(const void* step, profile::StepForm form, const void* stream);

// What aclrtProfTrace gets.
struct [[gnu::packed]] TracePoint {
    std::uint64_t number = 0;
    std::uint64_t model = 0;
    std::uint16_t tag = 0;
};
static_assert(sizeof(TracePoint) == 18);
Status trace_point(const TracePoint& point, const void* stream);

}  // namespace canopy
