// SPDX-License-Identifier: Apache-2.0
// Memory pool blocks for the work of a stream. If the stream is captured, the graph keeps the block. Any thread.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "core/memory/memory_pool.h"
#include "core/stream/stream.h"

namespace canopy {

Result<DeviceAddress> allocate_in_stream(MemoryPool& pool, std::size_t size, Stream& stream);
Status free_in_stream(DeviceAddress address, Stream& stream);

}  // namespace canopy
