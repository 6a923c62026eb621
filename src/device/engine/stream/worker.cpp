// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/worker.h"

#include <new>

namespace canopy {

Worker* Worker::current() noexcept {
    Executor* executor = Executor::current();
    if (!executor) return nullptr;
    if (Worker* worker = of(*executor)) [[likely]]
        return worker;
    Worker* worker = new (std::nothrow) Worker(*executor);
    executor->attachment.store(worker, std::memory_order_release);
    return worker;
}

}  // namespace canopy
