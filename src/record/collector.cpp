// SPDX-License-Identifier: Apache-2.0
#include "record/collector.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/process_state.h"
#include "foundation/clock.h"
#include "record/black_box.h"
#include "record/thread_records.h"

namespace canopy::record {
namespace {

constexpr std::size_t records_at_a_time = 8 * 1024;
constexpr Nanoseconds shortest_pause = 2 * millisecond;
constexpr Nanoseconds longest_pause = 16 * millisecond;  // when nothing is written

std::atomic<Collector*> present_collector{nullptr};
std::atomic<std::uint64_t> lost_without_ring{0};
std::atomic<void (*)()> source_of_facts{nullptr};

// What a listener wants if it is told records of this kind.
constexpr std::uint32_t wanted_for(profile::Kind kind) noexcept {
    switch (kind) {
        case profile::Kind::call:
            return calls;
        case profile::Kind::task:
        case profile::Kind::step:
        case profile::Kind::piece:
            return tasks;
        case profile::Kind::node:
            return nodes;
        case profile::Kind::block:
            return blocks;
        case profile::Kind::memory:
        case profile::Kind::counter:
            return memory;
        case profile::Kind::mark:
            return marks;
        case profile::Kind::step_point:
            return steps;
        case profile::Kind::idle:
            return idle;
        case profile::Kind::none:
        case profile::Kind::detail:
        case profile::Kind::count_:
            break;
    }
    return 0;
}

std::uint32_t with_noted_calls(std::uint32_t wanted) noexcept {
    return (wanted & (calls | call_sites)) != 0 ? wanted | noted_calls : wanted;
}

// Calls a function of a listener. False if it threw: what it was told is missing then.
template <class Call>
bool told(const Call& call) noexcept {
    try {
        call();
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace

std::atomic<std::uint32_t> wanted_now{0};

void wake_collector() noexcept {
    if (Collector* collector = present_collector.load(std::memory_order_acquire)) collector->wake();
}

void lose_record() noexcept { lost_without_ring.fetch_add(1, std::memory_order_relaxed); }

void want_call_sites() noexcept { wanted_now.fetch_or(call_sites | noted_calls, std::memory_order_relaxed); }

void set_source_of_facts(void (*source)()) noexcept { source_of_facts.store(source, std::memory_order_release); }

// A child made by fork has one thread. The locks of facts and names are held while the process is copied; the others
// may be held by threads that the child does not have, so it begins with a new collector.
struct ForkHandlers {
    static void before() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        present_collector.load()->facts_mutex_.lock();
        names().lock();
    }
    static void in_parent() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        names().unlock();
        present_collector.load()->facts_mutex_.unlock();
    }
    static void in_child() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        wanted_now.store(with_noted_calls(wanted_now.load() & call_sites), std::memory_order_relaxed);
        thread_records.ring = nullptr;
        Collector* const old = present_collector.load();
        in_parent();
        for (const auto& seat : old->seats_) Ring::destroy(seat->ring);
        old->seats_.clear();
        BlackBox::leave_to_parent();
        auto* fresh = new Collector;
        fresh->before_fork_ = old;
        present_collector.store(fresh);
    }
};

Collector& Collector::present() {
    static const bool made = [] {
        names();
        present_collector.store(new Collector, std::memory_order_release);
        ::pthread_atfork(ForkHandlers::before, ForkHandlers::in_parent, ForkHandlers::in_child);
        return true;
    }();
    static_cast<void>(made);
    return *present_collector.load(std::memory_order_acquire);
}

// ---- listeners ------------------------------------------------------------------------------------------------------

void Collector::publish_wanted() noexcept {
    std::uint32_t wanted = always_wanted_ | (wanted_now.load(std::memory_order_relaxed) & call_sites);
    for (const Hearing& hearing : hearings_) wanted |= hearing.wanted;
    wanted_now.store(with_noted_calls(wanted), std::memory_order_relaxed);
}

void Collector::listen(std::shared_ptr<Listener> listener, std::uint32_t wanted) {
    MutexLock lock(listen_mutex_);
    bool first = false;
    {
        MutexLock collecting(collect_mutex_);
        taken_.resize(records_at_a_time);
        wanted_records_.reserve(records_at_a_time);
        first = hearings_.empty();
        if (first)
            skip_old_records();
        else
            collect();
        hearings_.push_back({listener, wanted});
        publish_wanted();
        if (first)
            if (auto* const source = source_of_facts.load(std::memory_order_acquire)) source();
        tell_everything(*listener);
        ending_ = false;
    }
    if (first) start_thread();
}

void Collector::stop_listening(const std::shared_ptr<Listener>& listener) {
    MutexLock lock(listen_mutex_);
    {
        MutexLock collecting(collect_mutex_);
        const auto found = std::find_if(hearings_.begin(), hearings_.end(),
                                        [&](const Hearing& hearing) { return hearing.listener == listener; });
        if (found == hearings_.end()) return;
        collect();
        hearings_.erase(found);
        publish_wanted();
        if (!hearings_.empty()) return;
        ending_ = true;
        MutexLock facts(facts_mutex_);
        devices_.clear();
        streams_.clear();
        news_ = {};
        listened_ = false;
    }
    bell_.wake_all();
    if (thread_.joinable()) thread_.join();
}

void Collector::write_always(std::uint32_t wanted) {
    MutexLock collecting(collect_mutex_);
    always_wanted_ = wanted;
    publish_wanted();
}

void Collector::flush() {
    MutexLock collecting(collect_mutex_);
    collect();
}

// What was written for listeners of the past, and by threads that wrote while the last of them left.
void Collector::skip_old_records() {
    lost_without_ring.store(0, std::memory_order_relaxed);
    MutexLock facts(facts_mutex_);
    listened_ = true;
    for (const auto& seat : seats_) {
        if (seat->ring->ended.load(std::memory_order_acquire)) seat->taken = false;
        seat->collected = seat->ring->written();
        seat->ring->note_collected(seat->collected);
        seat->last_kind = profile::Kind::none;
        seat->changed = false;
    }
}

void Collector::tell_everything(Listener& listener) {
    Names::Position start;
    const std::vector<NumberedText> texts = names().after(start);
    News all;
    {
        MutexLock facts(facts_mutex_);
        for (const auto& [number, device] : devices_) all.devices.push_back(device);
        for (const auto& [number, stream] : streams_) all.streams.push_back(stream);
        for (const auto& seat : seats_)
            if (seat->taken) all.threads.push_back(seat->owner);
    }
    told([&] {
        for (const NumberedText& text : texts) listener.text(text.number, text.text);
        for (const profile::DeviceFacts& device : all.devices) listener.device(device);
        for (const profile::StreamFacts& stream : all.streams) listener.stream(stream);
        for (const profile::Thread& thread : all.threads) listener.thread(thread);
    });
    if (hearings_.size() == 1) told_names_ = start;
}

// ---- collecting -----------------------------------------------------------------------------------------------------

void Collector::start_thread() noexcept {
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (...) {  // without a thread, `flush` and `stop_listening` collect
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Collector::run() noexcept {
    ::pthread_setname_np(::pthread_self(), "canopy-record");
    Nanoseconds pause = shortest_pause;
    for (;;) {
        const ParkingLot::Epoch epoch = bell_.prepare();
        {
            MutexLock collecting(collect_mutex_);
            if (ending_) break;
            pause = collect() ? shortest_pause : std::min(2 * pause, longest_pause);
        }
        bell_.park(epoch, Deadline::after(pause));
    }
    bell_.cancel();
}

bool Collector::collect() noexcept {
    if (hearings_.empty()) return false;
    bool found = false;
    told([&] {
        News news;
        find_parts(news);
        // The records up to here use no newer texts.
        tell_news(news);
        for (const Part& part : parts_) {
            found = found || part.seat->collected != part.until;
            collect_part(part);
        }
        if (const std::uint64_t count = lost_without_ring.exchange(0, std::memory_order_relaxed); count != 0)
            tell_lost(0, count);
        MutexLock facts(facts_mutex_);
        for (const Part& part : parts_)
            if (part.ended) part.seat->taken = false;
    });
    return found;
}

void Collector::find_parts(News& news) {
    MutexLock facts(facts_mutex_);
    parts_.clear();
    news = std::exchange(news_, {});
    for (const auto& seat : seats_) {
        if (!seat->taken) continue;
        const bool ended = seat->ring->ended.load(std::memory_order_acquire);
        parts_.push_back({seat.get(), seat->ring->written(), seat->owner.number, ended});
        if (std::exchange(seat->changed, false)) news.threads.push_back(seat->owner);
    }
}

void Collector::tell_news(const News& news) {
    const std::vector<NumberedText> texts = names().after(told_names_);
    for (const Hearing& hearing : hearings_) {
        told([&] {
            for (const NumberedText& text : texts) hearing.listener->text(text.number, text.text);
            for (const profile::DeviceFacts& device : news.devices) hearing.listener->device(device);
            for (const profile::StreamFacts& stream : news.streams) hearing.listener->stream(stream);
            for (const profile::Thread& thread : news.threads) hearing.listener->thread(thread);
        });
    }
}

void Collector::collect_part(const Part& part) {
    Seat& seat = *part.seat;
    while (seat.collected < part.until) {
        const Ring::Taken taken = seat.ring->take(seat.collected, part.until, taken_.data(), taken_.size());
        if (taken.lost != 0) {
            seat.last_kind = profile::Kind::none;
            tell_lost(part.thread, taken.lost);
        }
        if (taken.count != 0) tell_records(seat, part.thread, std::span(taken_).first(taken.count));
        seat.ring->note_collected(seat.collected);
    }
}

void Collector::tell_lost(std::uint32_t thread, std::uint64_t count) {
    for (const Hearing& hearing : hearings_) told([&] { hearing.listener->lost(thread, count); });
}

void Collector::tell_records(Seat& seat, std::uint32_t thread, std::span<const Record> records) {
    const profile::Kind kind_before = seat.last_kind;
    for (const Hearing& hearing : hearings_) {
        std::span<const Record> wanted = records;
        if (hearing.wanted != everything) {
            wanted_records_.clear();
            profile::Kind last = kind_before;
            for (const Record& record : records) {
                if (record.what() != profile::Kind::detail) last = record.what();
                if ((wanted_for(last) & hearing.wanted) != 0) wanted_records_.push_back(record);
            }
            wanted = wanted_records_;
        }
        if (wanted.empty() || told([&] { hearing.listener->records(thread, wanted); })) continue;
        told([&] { hearing.listener->lost(thread, wanted.size()); });
    }
    for (const Record& record : records)
        if (record.what() != profile::Kind::detail) seat.last_kind = record.what();
}

// ---- threads and facts ----------------------------------------------------------------------------------------------

// In the black box if there is one with room.
void Collector::make_seat() {
    auto seat = std::make_unique<Seat>();
    seats_.reserve(seats_.size() + 1);
    if (BlackBox* const box = BlackBox::present()) seat->ring = box->ring(seat->place_in_box);
    if (seat->ring == nullptr) seat->ring = Ring::create();
    if (seat->ring == nullptr) throw std::bad_alloc();
    seats_.push_back(std::move(seat));
}

void Collector::tell_owner(const Seat& seat) const {
    BlackBox* const box = BlackBox::present();
    if (box == nullptr || seat.place_in_box == 0) return;
    box->thread(seat.owner);
    box->owner(seat.place_in_box, seat.owner.number, seat.ring->written());
}

Ring* Collector::ring_for_thread(const profile::Thread& thread) noexcept {
    try {
        MutexLock facts(facts_mutex_);
        const bool take_ended = !listened_;
        const auto is_free = [&](const auto& seat) {
            return !seat->taken || (take_ended && seat->ring->ended.load(std::memory_order_acquire));
        };
        auto place = std::find_if(seats_.begin(), seats_.end(), is_free);
        if (place == seats_.end()) {
            make_seat();
            place = std::prev(seats_.end());
        }
        Seat& seat = **place;
        seat.owner = thread;
        seat.owner.number = ++last_thread_;
        seat.ring->ended.store(false, std::memory_order_relaxed);
        seat.taken = true;
        seat.changed = true;
        tell_owner(seat);
        return seat.ring;
    } catch (...) {
        return nullptr;
    }
}

void Collector::rename_thread(const Ring* ring, const profile::Thread& thread) noexcept {
    try {
        MutexLock facts(facts_mutex_);
        for (const auto& seat : seats_) {
            if (seat->ring != ring) continue;
            const std::uint32_t number = seat->owner.number;
            seat->owner = thread;
            seat->owner.number = number;
            seat->changed = true;
            if (BlackBox* const box = BlackBox::present()) box->thread(seat->owner);
        }
    } catch (...) {  // it keeps its old name
    }
}

void Collector::device(const profile::DeviceFacts& device) {
    MutexLock facts(facts_mutex_);
    if (BlackBox* const box = BlackBox::present()) box->device(device);
    if (!listened_) return;
    devices_.insert_or_assign(device.number, device);
    news_.devices.push_back(device);
}

void Collector::stream(const profile::StreamFacts& stream) {
    MutexLock facts(facts_mutex_);
    if (BlackBox* const box = BlackBox::present()) box->stream(stream);
    if (!listened_) return;
    streams_.insert_or_assign(stream.number, stream);
    news_.streams.push_back(stream);
}

}  // namespace canopy::record
