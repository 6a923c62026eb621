// SPDX-License-Identifier: Apache-2.0
// Putting into queues and taking out of them, by copy and by buffer. A deadline of 0 does not wait. Full: 207014;
// empty: 207013; no such queue, or its creator is gone (and it is empty): 100032; not granted: 207006. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "foundation/clock.h"

namespace canopy {

Status enqueue_buffer(std::uint32_t queue, Handle buffer, Deadline deadline);
Result<Handle> dequeue_buffer(std::uint32_t queue, Deadline deadline);

// Data may be host or device memory.
struct QueueData {
    const void* data = nullptr;
    std::size_t size = 0;
    const void* user = nullptr;
    std::size_t user_size = 0;
};
struct QueueRoom {
    void* data = nullptr;
    std::size_t size = 0;
    void* user = nullptr;
    std::size_t user_size = 0;
};
Status enqueue_data(std::uint32_t queue, const QueueData& data, Deadline deadline);
// 107000 if the item is larger than the room: `length` tells its size, and it stays the first.
Status dequeue_data(std::uint32_t queue, const QueueRoom& room, std::size_t& length, Deadline deadline);

}  // namespace canopy
