// SPDX-License-Identifier: Apache-2.0
// Events: each event has a fence, raised by each record. A wait binds to the most recent record at the time of the
// call; a plain event that has not been recorded blocks its waiters until it is. Events that graphs set and wait for at
// run time have a second fence, the flag: 1 when recorded, 0 when reset. Lock order: Stream::lock, Event::lock.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "core/share/key.h"
#include "core/stream/recorder.h"
#include "device/device.h"
#include "foundation/clock.h"

namespace canopy {

enum EventFlags : std::uint32_t {
    event_sync = 0x1,
    event_progress = 0x2,
    event_timeline = 0x8,
    event_device_only = 0x10,
    event_external = 0x20,
    event_interprocess = 0x40,
};

class SharedEvent;  // shared_event.h

enum class EventKind : std::uint8_t { plain, extended };

class Event {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    EventKind kind = EventKind::plain;
    std::uint32_t flags = 0;

    SpinLock lock;
    Fence* fence CANOPY_GUARDED_BY(lock) = nullptr;
    std::uint64_t records CANOPY_GUARDED_BY(lock) = 0;   // value to which the last record raises the fence
    bool recorded CANOPY_GUARDED_BY(lock) = false;       // recorded, and not reset since
    Handle stream CANOPY_GUARDED_BY(lock) = 0;           // stream of the last record
    std::uint64_t sequence CANOPY_GUARDED_BY(lock) = 0;  // command of the last record
    Fence* flag CANOPY_GUARDED_BY(lock) = nullptr;       // created on first use, see event_flag
    std::uint64_t capture CANOPY_GUARDED_BY(lock) = 0;   // number of the capture that recorded it last; 0: none
    GraphPlace place CANOPY_GUARDED_BY(lock){};          // position of that record
    // Of events with the inter-process flag, which use nothing above but stream and sequence. Set while the handle is
    // not known to anybody, cleared when the event is recycled.
    std::shared_ptr<SharedEvent> shared;

    // Tells the thread-safety analysis that the calling thread holds `lock`.
    void assert_locked() const noexcept CANOPY_ASSERT_HELD(lock) {}
    void recycle() noexcept;
};

Result<Handle> create_event(EventKind kind, std::uint32_t flags);
// An event of another process (shared_event.h).
Result<Handle> open_event(std::shared_ptr<SharedEvent> shared);
Result<Pin<Event>> find_event(const void* event);
Status destroy_event(Handle handle);

// `flag` 1: an external event, for streams that are being captured (107000 on others).
Status record_event(Event& event, const void* stream, std::uint32_t flag = 0);
// timeout 0: the process's default wait timeout.
Status wait_for_event(Event& event, const void* stream, Nanoseconds timeout, std::uint32_t flag = 0);
Status reset_event(Event& event, const void* stream);
Status synchronise_event(Event& event, Deadline deadline);
bool event_complete(Event& event) noexcept;
// Time of the last record on the device's clock. 107006 if it has not happened.
Result<Nanoseconds> event_time(Event& event);

// The event's flag, for graph tasks: record is signal(set 1), wait is wait(at_least 1), reset is signal(set 0). From
// the first call on, records outside of graphs also set it. Lives as long as the event.
Result<Fence*> event_flag(Event& event, Device& device);
// The command for a call that works on the event's flag.
Result<Command> flag_command(const EventCall& call, Device& device);
// Prepares a record on this stream: if a record on another stream is still pending, the event gets a new fence, so that
// the two cannot be confused. Afterwards the fence can be raised to `records` + 1.
Status begin_record(Event& event, Stream& stream) CANOPY_REQUIRES(event.lock);
// Marks the event as not recorded.
Status forget_record(Event& event, Device& device) CANOPY_REQUIRES(event.lock);

// Opens the event of another process; the current device gets access to that of the other process.
Result<Handle> open_shared_event(const SharedKey::Bytes& handle);

// What the functions above do with events between processes (event_shared.cpp).
Status record_shared(Event& event, const void* stream);
Status wait_for_shared(Event& event, const void* stream, std::uint64_t timeout);
Status synchronise_shared(Event& event, Deadline deadline);

}  // namespace canopy
