// SPDX-License-Identifier: Apache-2.0
// Events: a fence per event, raised by each record. A wait binds to the most recent record at the time of the call;
// a plain event that has not been recorded holds its waiters until it is. Lock order: Stream::lock, Event::lock.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "core/handles.h"
#include "core/runtime.h"
#include "device/backend.h"

namespace canopy {

enum EventFlags : std::uint32_t {
    event_sync = 0x1,
    event_progress = 0x2,
    event_timeline = 0x8,
    event_device_only = 0x10,
    event_external = 0x20,
    event_interprocess = 0x40,
};

enum class EventKind : std::uint8_t { plain, extended };

class Event {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    EventKind kind = EventKind::plain;
    std::uint32_t flags = 0;

    SpinLock lock;
    Fence* fence CANOPY_GUARDED_BY(lock) = nullptr;
    std::uint64_t records CANOPY_GUARDED_BY(lock) = 0;   // value the last record raises the fence to
    bool recorded CANOPY_GUARDED_BY(lock) = false;       // recorded, and not reset since
    Handle stream CANOPY_GUARDED_BY(lock) = 0;           // of the last record
    std::uint64_t sequence CANOPY_GUARDED_BY(lock) = 0;  // its command

    void recycle() noexcept;
};

Result<Handle> create_event(EventKind kind, std::uint32_t flags);
Result<Pin<Event>> find_event(const void* event);
Status destroy_event(Handle handle);

Status record_event(Event& event, const void* stream);
// timeout 0: the process' default for waits.
Status wait_for_event(Event& event, const void* stream, Nanoseconds timeout);
Status reset_event(Event& event, const void* stream);
Status synchronise_event(Event& event, Deadline deadline);
bool event_complete(Event& event) noexcept;
// Time of the last record on the device's clock. 107006 when it has not happened.
Result<Nanoseconds> event_time(Event& event);

}  // namespace canopy
