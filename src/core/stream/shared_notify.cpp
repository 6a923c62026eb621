// SPDX-License-Identifier: Apache-2.0
#include "core/stream/shared_notify.h"

#include <atomic>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/stream/stream.h"
#include "device/outside_signals.h"

namespace canopy {
namespace {

struct NotifyPage {
    SignalHead head;
    alignas(64) std::atomic<std::uint64_t> word;
};
static_assert(sizeof(NotifyPage) <= SharedNotify::page_bytes);

std::atomic<std::uint64_t>& word_of(const SharedSignal& signal) noexcept {
    return reinterpret_cast<NotifyPage*>(signal.page())->word;
}

Status check_usable(const SharedSignal& signal) {
    if (signal.inherited())
        return fail(code::invalid_handle, "the notify belongs to the process from which this one was forked");
    if (signal.owner_gone()) return fail(code::lost_heartbeat, "the process that created the notify has ended");
    return {};
}

Status check_recordable(const Stream& stream) {
    stream.assert_locked();
    if (!stream.recorder) return {};
    return fail(code::not_supported, "notifies between processes cannot be captured");
}

// The thread that comes to the wait takes a record from the word itself. While the stream is stopped, the wait is in
// the list and records go to the fence. When a process that could have recorded has ended, the stream is released with
// an error instead.
class NotifyWait final : public ArmedWait, public OutsideWait {
public:
    NotifyWait(std::shared_ptr<SharedNotify> notify, Handle stream) noexcept
        : ArmedWait(notify->signal()), notify_(std::move(notify)), stream_(stream), deaths_(signal->deaths()) {}

    // From a successful submission to `end`.
    void keep(std::shared_ptr<NotifyWait> self) noexcept { kept_ = std::move(self); }
    bool look() noexcept override { return notify_->take(); }
    void stop() noexcept override {
        stopped_ = true;
        arm(kept_);
    }
    void end() noexcept override {
        const std::shared_ptr<NotifyWait> last = std::move(kept_);
        passed_.store(true, std::memory_order_release);
        const bool had_signal = notify_->wait_has_ended();
        // Takes it out of the list; others may take what has come meanwhile, or hear of a death.
        if (stopped_ || had_signal) poll_signals();
    }

    bool over() noexcept override {
        if (passed_.load(std::memory_order_acquire)) return true;
        notify_->take_to_fence();
        if ((signal->owner_gone() || signal->deaths() != deaths_) && !told_ && !notify_->pending() &&
            !notify_->handed_over()) {
            told_ = true;
            if (const Pin<Stream> stream = Runtime::instance().streams.pin(stream_))
                fail_stream(*stream, code::lost_heartbeat, "a process with which the notify is shared has ended");
            notify_->hand_over();
        }
        return false;
    }
    void finish() noexcept override {}

private:
    const std::shared_ptr<SharedNotify> notify_;
    const Handle stream_;
    const std::uint32_t deaths_;
    std::shared_ptr<NotifyWait> kept_;
    bool stopped_ = false;
    bool told_ = false;  // under the lock of the list
    std::atomic<bool> passed_{false};
};

}  // namespace

SharedNotify::SharedNotify(std::shared_ptr<SharedSignal> signal, Fence* fence) noexcept
    : signal_(std::move(signal)), fence_(fence) {
    fence_->retain();
}

SharedNotify::~SharedNotify() {
    // A record that no stream of this process has used is left to the others.
    if (!signal_->owned() && !signal_->inherited() && fence_->value() == 1) set();
    fence_->release();
}

SharedNotify* SharedNotify::keep() {
    kept_ = shared_from_this();
    return this;
}

void SharedNotify::end() noexcept { signal_->unshare_page(); }

void SharedNotify::set() noexcept {
    // One step: a thread that watches the word takes the cache line away with every look.
    word_of(*signal_).fetch_or(1, std::memory_order_seq_cst);
    signal_->ring();
}

bool SharedNotify::take() noexcept {
    std::uint64_t value = word_of(*signal_).load(std::memory_order_seq_cst);
    return value % 2 != 0 && word_of(*signal_).compare_exchange_strong(value, value + 1, std::memory_order_seq_cst);
}

void SharedNotify::take_to_fence() noexcept {
    if (fence_->value() == 0 && take()) hand_over();
}

void SharedNotify::hand_over() noexcept {
    handed_over_.fetch_add(1, std::memory_order_acq_rel);
    fence_->signal(SignalMode::set, 1);
}

bool SharedNotify::wait_has_ended() noexcept {
    std::uint32_t handed = handed_over_.load(std::memory_order_acquire);
    while (handed != 0)
        if (handed_over_.compare_exchange_weak(handed, handed - 1, std::memory_order_acq_rel)) return true;
    return false;
}

bool SharedNotify::pending() const noexcept {
    return fence_->value() != 0 || word_of(*signal_).load(std::memory_order_seq_cst) % 2 != 0;
}

void SharedNotify::reset() noexcept {
    handed_over_.store(0, std::memory_order_release);
    std::uint64_t value = word_of(*signal_).load(std::memory_order_relaxed);
    while (value % 2 != 0 && !word_of(*signal_).compare_exchange_weak(value, value + 1, std::memory_order_seq_cst)) {
    }
}

Status SharedNotify::record(const void* handle) {
    CANOPY_TRY(check_usable(*signal_));
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        CANOPY_TRY(check_recordable(*stream));
        auto task = std::make_unique<std::shared_ptr<SharedNotify>>(shared_from_this());
        Command command(Opcode::brief_call);
        command.call.argument = task.get();
        command.call.function = [](void* argument) { (*static_cast<std::shared_ptr<SharedNotify>*>(argument))->set(); };
        command.call.dispose = [](void* argument) { delete static_cast<std::shared_ptr<SharedNotify>*>(argument); };
        CANOPY_TRY(stream.submit(command));
        task.release();
        return {};
    });
}

Status SharedNotify::wait(const void* handle, Nanoseconds timeout) {
    CANOPY_TRY(check_usable(*signal_));
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        CANOPY_TRY(check_recordable(*stream));
        if (stream->record->physical != signal_->device())
            return fail(code::param_invalid, "the notify was created on device {}, the stream is on device {}",
                        signal_->device(), stream->record->physical);
        auto wait = std::make_shared<NotifyWait>(shared_from_this(), stream->self);
        Command command(Opcode::wait);
        command.wait = {fence_, 1, static_cast<std::uint64_t>(timeout), WaitMode::equal, true, wait.get()};
        wait->keep(wait);
        const Status status = stream.submit(command);
        if (!status.ok()) wait->keep(nullptr);
        return status;
    });
}

}  // namespace canopy
