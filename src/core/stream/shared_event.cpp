// SPDX-License-Identifier: Apache-2.0
#include "core/stream/shared_event.h"

#include <sched.h>

#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr std::uint32_t ring_slots = 128;
constexpr Nanoseconds longest_wait_for_slot = 30 * second;

// A record is one number: ticket, participant. Its slot in the participant's ring holds the ticket and a state; a
// slot that holds a later ticket has been used again, so the record is long done.
enum SlotState : std::uint64_t { slot_open = 1, slot_done = 2, slot_lost = 3 };

struct Ring {
    std::atomic<std::uint64_t> next_ticket;
    std::atomic<std::uint64_t> slots[ring_slots];  // ticket * 4 + SlotState
};

struct EventPage {
    SignalHead head;
    alignas(64) std::atomic<std::uint64_t> current;  // the last record
    alignas(64) Ring rings[max_participants];
};

constexpr std::uint64_t record_of(std::uint64_t ticket, std::uint32_t participant) noexcept {
    return ticket * max_participants + participant;
}
constexpr std::uint64_t ticket_of(std::uint64_t record) noexcept { return record / max_participants; }
constexpr std::uint32_t participant_of(std::uint64_t record) noexcept { return record % max_participants; }

EventPage& page_of(const SharedSignal& signal) noexcept { return *reinterpret_cast<EventPage*>(signal.page()); }

std::atomic<std::uint64_t>& slot_of_record(const SharedSignal& signal, std::uint64_t record) noexcept {
    return page_of(signal).rings[participant_of(record)].slots[ticket_of(record) % ring_slots];
}

// On the porter's thread of the process that created the event.
void participant_lost(SharedSignal& signal, std::uint32_t participant) noexcept {
    for (std::atomic<std::uint64_t>& slot : page_of(signal).rings[participant].slots) {
        std::uint64_t value = slot.load(std::memory_order_acquire);
        if (value % 4 == slot_open) slot.compare_exchange_strong(value, value - slot_open + slot_lost);
    }
}

}  // namespace

Result<std::shared_ptr<SharedEvent>> SharedEvent::create(DeviceRecord& record) {
    Result<std::shared_ptr<SharedSignal>> signal = SharedSignal::create(sizeof(EventPage), 0);
    if (!signal.ok()) return signal.status();
    (*signal)->set_device(record.physical);
    (*signal)->participant_lost = participant_lost;
    return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(*signal)));
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::open(const SharedKey& key) {
    Result<std::shared_ptr<SharedSignal>> signal = SharedSignal::open(key, sizeof(EventPage));
    if (!signal.ok()) return signal.status();
    return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(*signal)));
}

Result<SharedKey::Bytes> SharedEvent::handle() {
    CANOPY_TRY(check_usable());
    if (!signal_->owned()) return signal_->key().bytes();
    Result<SharedKey> key = signal_->share_page(SharedKind::event, Importers::anybody);
    if (!key.ok()) return key.status();
    return key->bytes();
}

void SharedEvent::end() noexcept { signal_->unshare_page(); }

Status SharedEvent::check_usable() const {
    if (!signal_->inherited()) return {};
    return fail(code::invalid_handle, "the event belongs to the process from which this one was forked");
}

std::uint64_t SharedEvent::current() const noexcept {
    return page_of(*signal_).current.load(std::memory_order_seq_cst);
}

bool SharedEvent::own(std::uint64_t record) const noexcept { return participant_of(record) == signal_->participant(); }

SharedEvent::State SharedEvent::state(std::uint64_t record) const noexcept {
    if (record == 0) return State::done;
    const std::uint64_t slot = slot_of_record(*signal_, record).load(std::memory_order_seq_cst);
    if (slot / 4 != ticket_of(record) || slot % 4 == slot_done) return State::done;
    if (slot % 4 == slot_lost) return State::lost;
    // Nobody marks the slots of others after the end of the process that created the event.
    return signal_->owner_gone() && !own(record) ? State::lost : State::pending;
}

Status SharedEvent::wait_for_slot() {
    CANOPY_TRY(check_usable());
    const Ring& ring = page_of(*signal_).rings[signal_->participant()];
    const Deadline deadline = Deadline::after(longest_wait_for_slot);
    for (;;) {
        const std::uint64_t ticket = ring.next_ticket.load(std::memory_order_relaxed) + 1;
        if (ring.slots[ticket % ring_slots].load(std::memory_order_acquire) % 4 != slot_open) return {};
        if (deadline.passed())
            return fail(code::resource_alloc, "{} records of the event are pending in this process", ring_slots);
        sched_yield();
    }
}

Result<std::uint64_t> SharedEvent::begin() {
    CANOPY_TRY(check_usable());
    if (signal_->owner_gone()) return fail(code::lost_heartbeat, "the process that created the event has ended");
    EventPage& page = page_of(*signal_);
    MutexLock guard(mutex_);
    Ring& ring = page.rings[signal_->participant()];
    const std::uint64_t ticket = ring.next_ticket.load(std::memory_order_relaxed) + 1;
    const std::uint64_t record = record_of(ticket, signal_->participant());
    std::atomic<std::uint64_t>& slot = slot_of_record(*signal_, record);
    if (slot.load(std::memory_order_acquire) % 4 == slot_open) return std::uint64_t{0};
    slot.store(ticket * 4 + slot_open, std::memory_order_seq_cst);
    ring.next_ticket.store(ticket, std::memory_order_relaxed);
    page.current.store(record, std::memory_order_seq_cst);
    return record;
}

void SharedEvent::reached(std::uint64_t record) noexcept {
    slot_of_record(*signal_, record).store(ticket_of(record) * 4 + slot_done, std::memory_order_seq_cst);
    signal_->ring();
}

}  // namespace canopy
