// SPDX-License-Identifier: Apache-2.0
// Notifies: one record releases one wait. Counting notifies: a 32-bit counter that streams change and compare. Both are
// fences and work between streams of any devices in the process.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "device/device.h"
#include "foundation/clock.h"

namespace canopy {

enum class NotifyKind : std::uint8_t { binary, counting };

class Notify {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    Fence* fence = nullptr;  // valid while the handle is alive
    void recycle() noexcept;
};

Result<Handle> create_notify(NotifyKind kind);
Result<Pin<Notify>> find_notify(NotifyKind kind, const void* notify);
Status destroy_notify(NotifyKind kind, const void* notify);

Status signal_notify(Notify& notify, const void* stream, SignalMode mode, std::uint64_t value);
// timeout 0: no timeout.
Status wait_for_notify(Notify& notify, const void* stream, WaitMode mode, std::uint64_t value, bool clear,
                       Nanoseconds timeout);

}  // namespace canopy
