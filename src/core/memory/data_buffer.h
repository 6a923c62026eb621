// SPDX-License-Identifier: Apache-2.0
// Data buffers: address and size pairs. They own nothing and may hold any address.
#pragma once

#include <cstddef>

#include "base/device_address.h"
#include "base/spin_lock.h"

namespace canopy {

struct DataBuffer {
    SpinLock lock;
    DeviceAddress address CANOPY_GUARDED_BY(lock){};
    std::size_t size CANOPY_GUARDED_BY(lock) = 0;

    void recycle() noexcept {
        SpinGuard guard(lock);
        address = {};
        size = 0;
    }
};

}  // namespace canopy
