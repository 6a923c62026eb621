// SPDX-License-Identifier: Apache-2.0
// The state of events and notifies: whether they are recorded, and counts. Those shared between processes are left
// alone, because others may use them. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/stream/event.h"
#include "core/stream/notify.h"
#include "device/device.h"

namespace canopy {

class SavedSignals {
public:
    static std::unique_ptr<SavedSignals> save();
    // Those that were destroyed since are skipped. An event whose record was still to come keeps the state it has now:
    // the stream will reach, or has reached, that record.
    Status restore();

private:
    struct Release {
        void operator()(Fence* fence) const noexcept { fence->release(); }
    };
    struct SavedEvent {
        Handle event = 0;
        std::unique_ptr<Fence, Release> fence;  // kept, so that no other gets its address
        std::uint64_t records = 0;
        bool recorded = false;
        Handle stream = 0;
        std::uint64_t sequence = 0;
        std::uint64_t flag = 0;
    };
    struct SavedNotify {
        NotifyKind kind = NotifyKind::binary;
        Handle notify = 0;
        std::uint64_t value = 0;
    };

    void save_event(Event& event);
    void save_notifies(NotifyKind kind, HandleTable<Notify>& table);
    static Status restore_event(Event& event, const SavedEvent& saved);

    std::vector<SavedEvent> events_;
    std::vector<SavedNotify> notifies_;
};

}  // namespace canopy
