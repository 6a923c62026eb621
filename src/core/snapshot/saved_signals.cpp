// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot/saved_signals.h"

#include <utility>

#include "core/process/runtime.h"

namespace canopy {

std::unique_ptr<SavedSignals> SavedSignals::save() {
    Runtime& runtime = Runtime::instance();
    auto saved = std::make_unique<SavedSignals>();
    runtime.events.for_each([&](Pin<Event> event) { saved->save_event(*event); });
    saved->save_notifies(NotifyKind::binary, runtime.notifies);
    saved->save_notifies(NotifyKind::counting, runtime.counting_notifies);
    return saved;
}

void SavedSignals::save_event(Event& event) {
    if (event.shared) return;
    SavedEvent saved;
    {
        SpinGuard guard(event.lock);
        if (event.recorded && event.fence->value() < event.records) return;
        event.fence->retain();
        saved.fence.reset(event.fence);
        saved.event = event.self;
        saved.records = event.records;
        saved.recorded = event.recorded;
        saved.stream = event.stream;
        saved.sequence = event.sequence;
        saved.flag = event.flag ? event.flag->value() : 0;
    }
    events_.push_back(std::move(saved));
}

void SavedSignals::save_notifies(NotifyKind kind, HandleTable<Notify>& table) {
    table.for_each([&](Pin<Notify> notify) {
        if (!notify->shared.load(std::memory_order_acquire))
            notifies_.push_back({kind, notify->self, notify->fence->value()});
    });
}

Status SavedSignals::restore() {
    Runtime& runtime = Runtime::instance();
    for (const SavedEvent& saved : events_)
        if (Pin<Event> event = runtime.events.pin(saved.event)) CANOPY_TRY(restore_event(*event, saved));
    for (const SavedNotify& saved : notifies_) {
        HandleTable<Notify>& table = saved.kind == NotifyKind::binary ? runtime.notifies : runtime.counting_notifies;
        Pin<Notify> notify = table.pin(saved.notify);
        if (!notify || notify->shared.load(std::memory_order_acquire)) continue;
        if (notify->fence->value() != saved.value) notify->fence->signal(SignalMode::set, saved.value);
    }
    return {};
}

// A record made since has raised the fence, or will: then the event gets a new one.
Status SavedSignals::restore_event(Event& event, const SavedEvent& saved) {
    Fence* old = nullptr;
    {
        SpinGuard guard(event.lock);
        event.recorded = saved.recorded;
        if (event.flag && event.flag->value() != saved.flag) event.flag->signal(SignalMode::set, saved.flag);
        if (event.fence == saved.fence.get() && event.records == saved.records) return {};
        Result<Fence*> fresh = event.record->opened()->create_fence();
        if (!fresh.ok()) return fresh.status();
        (*fresh)->signal(SignalMode::set, saved.records);
        old = std::exchange(event.fence, *fresh);
        event.records = saved.records;
        event.stream = saved.stream;
        event.sequence = saved.sequence;
    }
    old->release();
    return {};
}

}  // namespace canopy
