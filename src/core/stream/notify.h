// SPDX-License-Identifier: Apache-2.0
// Notifies: one record releases one wait, also between processes (shared_notify.h). Counting notifies: a 32-bit counter
// that streams change and compare. Both are fences and work between streams of any devices in the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "core/share/porter.h"
#include "device/device.h"
#include "foundation/clock.h"

namespace canopy {

class SharedNotify;

enum class NotifyKind : std::uint8_t { binary, counting };

class Notify {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    Fence* fence = nullptr;                      // valid while the handle is alive
    std::atomic<SharedNotify*> shared{nullptr};  // once it is exported, or if it was imported; until it is recycled
    void recycle() noexcept;
};

Result<Handle> create_notify(NotifyKind kind);
// A handle for a notify of another process.
Result<Handle> open_notify(const std::shared_ptr<SharedNotify>& shared, Fence* fence);
Result<Pin<Notify>> find_notify(NotifyKind kind, const void* notify);
Status destroy_notify(NotifyKind kind, const void* notify);

Status signal_notify(Notify& notify, const void* stream, SignalMode mode, std::uint64_t value);
// Sets it back at once.
void reset_notify(Notify& notify) noexcept;
// The number of the notify, the same in all processes.
std::uint32_t notify_number(const Notify& notify) noexcept;
// timeout 0: no timeout.
Status wait_for_notify(Notify& notify, const void* stream, WaitMode mode, std::uint64_t value, bool clear,
                       Nanoseconds timeout);

// Between processes (notify_shared.cpp). 507000 if it is exported or imported already.
Result<std::string> export_notify(Notify& notify, Importers importers);
// 107000 before the export.
Status allow_notify_import(Notify& notify, std::span<const std::int32_t> processes);
Result<Handle> import_notify(std::string_view key, bool peer_access);

}  // namespace canopy
