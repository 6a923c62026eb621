// SPDX-License-Identifier: Apache-2.0
#include "processes/chains.h"

#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

// How long a kernel works: the next one's stream is waiting when it ends.
constexpr double work = 3'000;
constexpr std::uint32_t warm_up = 32;

}  // namespace

Chain::Chain(Session& session, Side side)
    : session_(session), side_(side), memory_(most_hops * sizeof(Stamp)), stamp_(session.function("stamp")) {
    BENCH_CHECK(aclrtCreateNotify(&gate_, ACL_NOTIFY_DEFAULT));
    BENCH_CHECK(aclrtCreateNotify(&own_, ACL_NOTIFY_DEFAULT));
}

Chain::~Chain() {
    for (const aclrtEvent event : events_)
        if (event) aclrtDestroyEvent(event);
    for (const aclrtNotify notify : {gate_, own_, theirs_})
        if (notify) aclrtDestroyNotify(notify);
}

void Chain::stamp(std::uint32_t index) { launch(stamp_, stream_.get(), memory_.get(), index, clock_.ticks(work)); }

// Each exports the notify for which it waits.
void Chain::exchange_notifies(Control& control) {
    if (theirs_) return;
    const int own = static_cast<int>(side_);
    BENCH_CHECK(aclrtNotifyGetExportKey(own_, control.text[own], sizeof(control.text[own]),
                                        ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    if (side_ == Side::leader) {
        control.steps[0].fetch_add(1, std::memory_order_acq_rel);
        while (control.steps[1].load(std::memory_order_acquire) == 0) sched_yield();
    } else {
        make_partner_step(control);
        await_leader_step(control, 1);
    }
    BENCH_CHECK(aclrtNotifyImportByKey(&theirs_, control.text[1 - own], ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
}

std::vector<double> Chain::run(Partner& partner, std::uint32_t hops) {
    BENCH_CHECK(aclrtRecordNotify(gate_, other_.get()));
    stream_.synchronise();
    partner.finish();
    const auto own = memory_.read<Stamp>();
    std::vector<Stamp> all(hops);
    for (std::uint32_t i = 0; i < hops; ++i) {
        const auto& theirs = partner.control().times[i];
        all[i] = i % 2 == 0 ? own[i] : Stamp{theirs[0], theirs[1], theirs[2]};
    }
    check_order(all, 1);
    std::vector<double> times;
    for (std::uint32_t i = warm_up; i + 1 < hops; ++i)
        times.push_back(clock_.nanoseconds(all[i + 1].begin - all[i].end));
    return times;
}

void Chain::report(Control& control) {
    stream_.synchronise();
    const auto stamps = memory_.read<Stamp>();
    std::memcpy(control.times, stamps.data(), sizeof(control.times));
}

std::vector<double> Chain::lead_notify(Partner& partner, std::uint32_t hops) {
    Control& control = partner.control();
    partner.ask(Task::notify_chain, 0, hops);
    exchange_notifies(control);
    BENCH_CHECK(aclrtWaitAndResetNotify(gate_, stream_.get(), 0));
    for (std::uint32_t i = 0; i < hops; i += 2) {
        if (i != 0) BENCH_CHECK(aclrtWaitAndResetNotify(own_, stream_.get(), 0));
        stamp(i);
        BENCH_CHECK(aclrtRecordNotify(theirs_, stream_.get()));
    }
    partner.await_step(2);
    return run(partner, hops);
}

void Chain::follow_notify(Control& control) {
    if (theirs_)
        make_partner_step(control);
    else
        exchange_notifies(control);
    for (std::uint32_t i = 1; i < control.count; i += 2) {
        BENCH_CHECK(aclrtWaitAndResetNotify(own_, stream_.get(), 0));
        stamp(i);
        if (i + 1 < control.count) BENCH_CHECK(aclrtRecordNotify(theirs_, stream_.get()));
    }
    make_partner_step(control);
    report(control);
}

// The leader creates both events. A wait is for the last record, so calls alternate between the processes.
void Chain::exchange_events(Control& control) {
    for (std::uint32_t i = 0; i < events_.size(); ++i) {
        aclrtIpcEventHandle handle;
        if (side_ == Side::leader) {
            BENCH_CHECK(aclrtCreateEventExWithFlag(&events_[i], ACL_EVENT_IPC));
            BENCH_CHECK(aclrtIpcGetEventHandle(events_[i], &handle));
            std::memcpy(control.text[0], &handle, sizeof(handle));
            control.steps[0].fetch_add(1, std::memory_order_acq_rel);
            while (control.steps[1].load(std::memory_order_acquire) <= i && control.failed.load() == 0) sched_yield();
        } else {
            await_leader_step(control, i + 1);
            std::memcpy(&handle, control.text[0], sizeof(handle));
            BENCH_CHECK(aclrtIpcOpenEventHandle(handle, &events_[i]));
            make_partner_step(control);
        }
    }
}

std::vector<double> Chain::lead_event(Partner& partner, std::uint32_t hops) {
    Control& control = partner.control();
    const bool first = events_[0] == nullptr;
    partner.ask(Task::event_chain, 0, hops);
    if (first) exchange_events(control);
    const std::uint32_t before = first ? events_.size() : 0;
    BENCH_CHECK(aclrtWaitAndResetNotify(gate_, stream_.get(), 0));
    for (std::uint32_t i = 0; i < hops; i += 2) {
        if (i != 0) {
            partner.await_step(before + i / 2);
            BENCH_CHECK(aclrtStreamWaitEvent(stream_.get(), events_[(i - 1) % 2]));
        }
        stamp(i);
        BENCH_CHECK(aclrtRecordEvent(events_[i % 2], stream_.get()));
        partner.make_step();
    }
    partner.await_step(before + hops / 2);
    return run(partner, hops);
}

void Chain::follow_event(Control& control) {
    const bool first = events_[0] == nullptr;
    if (first) exchange_events(control);
    const std::uint32_t before = first ? events_.size() : 0;
    for (std::uint32_t i = 1; i < control.count; i += 2) {
        await_leader_step(control, before + (i + 1) / 2);
        BENCH_CHECK(aclrtStreamWaitEvent(stream_.get(), events_[(i - 1) % 2]));
        stamp(i);
        BENCH_CHECK(aclrtRecordEvent(events_[i % 2], stream_.get()));
        make_partner_step(control);
    }
    report(control);
}

}  // namespace bench
