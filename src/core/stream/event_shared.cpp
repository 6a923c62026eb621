// SPDX-License-Identifier: Apache-2.0
// Events between processes, in streams.
#include "core/stream/event.h"

#include <utility>

#include "base/error_text.h"
#include "base/parking.h"
#include "core/base/error_codes.h"
#include "core/process/context.h"
#include "core/stream/shared_event.h"
#include "core/stream/stream.h"

namespace canopy {

namespace {

Status lost() { return fail(code::lost_heartbeat, "the process that should have reached the event has ended"); }

struct RecordTask {
    std::shared_ptr<SharedEvent> event;
    std::uint64_t record = 0;
};

// Releases a stream when the record is reached, or tells it that it never will be.
class StreamWait final : public ArmedWait {
public:
    StreamWait(std::shared_ptr<SharedEvent> event, std::uint64_t record, Fence* fence, Handle stream) noexcept
        : ArmedWait(event->signal()), event_(std::move(event)), record_(record), fence_(fence), stream_(stream) {
        fence_->retain();
    }
    ~StreamWait() override { fence_->release(); }
    bool over() noexcept override {
        state_ = event_->state(record_);
        return state_ != SharedEvent::State::pending;
    }
    void finish() noexcept override {
        if (state_ == SharedEvent::State::lost)
            if (const Pin<Stream> stream = Runtime::instance().streams.pin(stream_))
                fail_stream(*stream, code::lost_heartbeat, "a process that should have reached an event has ended");
        fence_->signal(SignalMode::set, 1);
    }

private:
    const std::shared_ptr<SharedEvent> event_;
    const std::uint64_t record_;
    Fence* const fence_;
    const Handle stream_;
    SharedEvent::State state_ = SharedEvent::State::pending;
};

class HostWait final : public ArmedWait {
public:
    HostWait(std::shared_ptr<SharedEvent> event, std::uint64_t record) noexcept
        : ArmedWait(event->signal()), event_(std::move(event)), record_(record) {}
    bool over() noexcept override { return event_->state(record_) != SharedEvent::State::pending; }
    void finish() noexcept override {
        finished_.store(true, std::memory_order_seq_cst);
        parked_.wake_all();
    }
    bool wait(Deadline deadline) noexcept {
        for (;;) {
            const ParkingLot::Epoch epoch = parked_.prepare();
            if (finished_.load(std::memory_order_seq_cst)) {
                parked_.cancel();
                return true;
            }
            if (!parked_.park(epoch, deadline)) return finished_.load(std::memory_order_seq_cst);
        }
    }

private:
    const std::shared_ptr<SharedEvent> event_;
    const std::uint64_t record_;
    std::atomic<bool> finished_{false};
    ParkingLot parked_;
};

Status check_recordable(const Stream& stream) {
    stream.assert_locked();
    if (!stream.recorder) return {};
    return fail(code::not_supported, "events between processes cannot be captured");
}

}  // namespace

Result<Handle> open_shared_event(const SharedKey::Bytes& handle) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    const std::optional<SharedKey> key = SharedKey::from_bytes(handle);
    if (!key || key->kind != SharedKind::event)
        return fail(code::invalid_handle, "the handle is none of an event of another process");
    Result<std::shared_ptr<SharedEvent>> shared = SharedEvent::open(*key);
    if (!shared.ok()) return shared.status();
    (*record)->enable_peer((*shared)->signal()->device());
    return open_event(std::move(*shared));
}

Status record_shared(Event& event, const void* handle) {
    const std::shared_ptr<SharedEvent> shared = event.shared;
    bool recorded = false;
    const auto record_once = [&] {
        return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
            if (event.record != stream->record)
                return fail(code::stream_context, "event of device {} cannot be recorded on a stream of device {}",
                            event.record->index, stream->record->index);
            CANOPY_TRY(check_recordable(*stream));
            auto task = std::make_unique<RecordTask>();
            task->event = shared;
            Result<std::uint64_t> record = shared->begin();
            if (!record.ok()) return record.status();
            recorded = *record != 0;
            if (!recorded) return {};
            task->record = *record;
            Command command(Opcode::inline_call);
            command.call.argument = task.get();
            command.call.function = [](void* argument) {
                const auto* reached = static_cast<const RecordTask*>(argument);
                reached->event->reached(reached->record);
            };
            command.call.dispose = [](void* argument) { delete static_cast<RecordTask*>(argument); };
            if (const Status status = stream.submit(command); !status.ok()) {
                shared->reached(*record);
                return status;
            }
            task.release();
            SpinGuard guard(event.lock);
            event.stream = stream->self;
            event.sequence = stream.sequence();
            event.records = *record;
            return {};
        });
    };
    while (!recorded) {
        CANOPY_TRY(shared->wait_for_slot());
        CANOPY_TRY(record_once());
    }
    return {};
}

Status wait_for_shared(Event& event, const void* handle, std::uint64_t timeout) {
    const std::shared_ptr<SharedEvent> shared = event.shared;
    CANOPY_TRY(shared->check_usable());
    const std::uint64_t record = shared->current();
    std::shared_ptr<StreamWait> wait;
    CANOPY_TRY(with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        CANOPY_TRY(check_recordable(*stream));
        switch (shared->state(record)) {
            case SharedEvent::State::done:
                return {};
            case SharedEvent::State::lost:
                return lost();
            case SharedEvent::State::pending:
                break;
        }
        Result<Fence*> fence = stream->device->create_fence();
        if (!fence.ok()) return fence.status();
        wait = std::make_shared<StreamWait>(shared, record, *fence, stream->self);
        Command command(Opcode::wait);
        command.wait = {*fence, 1, timeout, WaitMode::at_least, false};
        const Status status = stream.submit(command);
        (*fence)->release();
        if (!status.ok()) wait.reset();
        return status;
    }));
    if (wait) arm(std::move(wait));  // without the stream's lock: the fence may be signalled at once
    return {};
}

Status synchronise_shared(Event& event, Deadline deadline) {
    const std::shared_ptr<SharedEvent> shared = event.shared;
    CANOPY_TRY(shared->check_usable());
    const std::uint64_t record = shared->current();
    Handle handle = 0;
    std::uint64_t sequence = 0;
    {
        SpinGuard guard(event.lock);
        if (event.records == record) {
            handle = event.stream;
            sequence = event.sequence;
        }
    }
    // A record of this handle: the waiting thread may help its stream.
    if (Pin<Stream> stream = Runtime::instance().streams.pin(handle)) {
        if (stream->queue->wait(sequence, deadline) == WaitOutcome::timed_out)
            return fail(code::event_sync_timeout, "the event was not reached in time");
        return {};
    }
    if (shared->state(record) == SharedEvent::State::pending) {
        const auto wait = std::make_shared<HostWait>(shared, record);
        arm(wait);
        if (!wait->wait(deadline)) {
            disarm(*wait);
            return fail(code::event_sync_timeout, "the event was not reached in time");
        }
    }
    if (shared->state(record) == SharedEvent::State::lost) return lost();
    return {};
}

}  // namespace canopy
