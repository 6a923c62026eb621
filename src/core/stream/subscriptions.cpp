// SPDX-License-Identifier: Apache-2.0
#include "core/stream/subscriptions.h"

#include <pthread.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/clock.h"
#include "foundation/mutex.h"

namespace canopy {

void give_up(const ReportedCall& entry) noexcept {
    if (entry.call.dropped) entry.call.dropped(entry.call.argument);
    if (entry.done) entry.done(entry.token);
}

namespace {

constexpr std::size_t max_threads = 1024;

void give_up(const std::deque<ReportedCall>& entries) noexcept {
    for (const ReportedCall& entry : entries) give_up(entry);
}

// The calls pending for one program thread, from its first subscription to its last.
class ReportThread {
public:
    void add(const ReportedCall& entry) {
        {
            MutexLock guard(mutex_);
            entries_.push_back(entry);
        }
        news_.notify_all();
    }

    enum class Outcome { ran, timed_out, nobody_left };
    Outcome process(std::int32_t timeout_ms) {
        const Deadline deadline = timeout_ms < 0 ? Deadline::never() : Deadline::after(timeout_ms * millisecond);
        MutexLock lock(mutex_);
        while (entries_.empty() && subscribed_) {
            if (!news_.wait(mutex_, deadline) && entries_.empty() && subscribed_) return Outcome::timed_out;
        }
        if (entries_.empty()) return Outcome::nobody_left;
        while (!entries_.empty()) {
            const ReportedCall entry = entries_.front();
            entries_.pop_front();
            lock.unlock();
            entry.call.function(entry.call.argument);
            if (entry.done) entry.done(entry.token);
            lock.lock();
        }
        return Outcome::ran;
    }

    // Removes and returns a stream's calls that have not run.
    std::deque<ReportedCall> take_out(Handle stream) {
        std::deque<ReportedCall> taken;
        MutexLock guard(mutex_);
        for (const ReportedCall& entry : entries_)
            if (entry.stream == stream) taken.push_back(entry);
        std::erase_if(entries_, [&](const ReportedCall& entry) { return entry.stream == stream; });
        return taken;
    }

    // A thread without a stream does not wait for calls.
    void set_subscribed(bool subscribed) {
        {
            MutexLock guard(mutex_);
            subscribed_ = subscribed;
        }
        news_.notify_all();
    }

private:
    Mutex mutex_;
    Condition news_;
    std::deque<ReportedCall> entries_ CANOPY_GUARDED_BY(mutex_);
    bool subscribed_ CANOPY_GUARDED_BY(mutex_) = false;
};

// Lock order: this mutex, then a thread's.
struct Subscriptions {
    Mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<ReportThread>> threads[2] CANOPY_GUARDED_BY(mutex);  // by kind
    std::map<Handle, std::uint64_t> streams[2] CANOPY_GUARDED_BY(mutex);                         // stream -> thread
    std::atomic<std::size_t> stream_count[2] = {};  // number of them, readable without the mutex

    [[nodiscard]] bool has_streams(std::size_t which, std::uint64_t thread) const CANOPY_REQUIRES(mutex) {
        for (const auto& [stream, owner] : streams[which])
            if (owner == thread) return true;
        return false;
    }
    // Ends a stream's subscription and returns its pending calls.
    std::deque<ReportedCall> remove(std::size_t which, Handle stream) CANOPY_REQUIRES(mutex) {
        const auto entry = streams[which].find(stream);
        if (entry == streams[which].end()) return {};
        const std::uint64_t thread = entry->second;
        streams[which].erase(entry);
        stream_count[which].fetch_sub(1, std::memory_order_relaxed);
        const std::shared_ptr<ReportThread> reports = threads[which][thread];
        if (!has_streams(which, thread)) {
            reports->set_subscribed(false);
            threads[which].erase(thread);
        }
        return reports->take_out(stream);
    }
};
Subscriptions& subscriptions() { return process_state<Subscriptions>(); }

}  // namespace

std::optional<std::uint64_t> subscribed_thread(ReportKind kind, Handle stream) {
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    if (all.stream_count[which].load(std::memory_order_relaxed) == 0) return std::nullopt;
    MutexLock guard(all.mutex);
    const auto found = all.streams[which].find(stream);
    if (found == all.streams[which].end()) return std::nullopt;
    return found->second;
}

void deliver(ReportKind kind, const ReportedCall& entry) noexcept {
    try {
        Subscriptions& all = subscriptions();
        const auto which = static_cast<std::size_t>(kind);
        MutexLock guard(all.mutex);
        if (entry.recorded) {
            const auto target = all.threads[which].find(*entry.thread);
            if (target != all.threads[which].end()) return target->second->add(entry);
        }
        const auto found = all.streams[which].find(entry.stream);
        if (found != all.streams[which].end() && found->second == entry.thread.value_or(found->second))
            return all.threads[which][found->second]->add(entry);
    } catch (...) {
    }
    give_up(entry);
}

Status add_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber) {
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    MutexLock guard(all.mutex);
    if (all.streams[which].count(subscriber.stream) != 0)
        return fail(code::stream_subscribe, "stream {} is already subscribed to a thread", subscriber.id);
    if (all.threads[which].count(thread) == 0 && all.threads[which].size() >= max_threads)
        return fail(code::thread_subscribe, "{} threads have already subscribed, the maximum", max_threads);
    std::shared_ptr<ReportThread>& target = all.threads[which][thread];
    if (!target) target = std::make_shared<ReportThread>();
    all.streams[which].emplace(subscriber.stream, thread);
    all.stream_count[which].fetch_add(1, std::memory_order_relaxed);
    target->set_subscribed(true);
    if (kind == ReportKind::host_function) subscriber.queue->set_router(subscriber.router);
    return {};
}

Status end_subscription(ReportKind kind, std::uint64_t thread, const Subscriber& subscriber) {
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    std::deque<ReportedCall> left;
    {
        MutexLock guard(all.mutex);
        const auto entry = all.streams[which].find(subscriber.stream);
        if (entry == all.streams[which].end() || entry->second != thread)
            return fail(code::stream_subscribe, "stream {} is not subscribed to thread {}", subscriber.id, thread);
        if (kind == ReportKind::host_function) subscriber.queue->set_router(nullptr);
        left = all.remove(which, subscriber.stream);
    }
    give_up(left);
    return {};
}

Status process_reports(ReportKind kind, std::int32_t timeout_ms) {
    if (timeout_ms == 0 || timeout_ms < -1)
        return fail(code::invalid_parameter, "timeout {} is neither -1 nor a positive number of milliseconds",
                    timeout_ms);
    const auto self = static_cast<std::uint64_t>(pthread_self());
    std::shared_ptr<ReportThread> reports;
    {
        Subscriptions& all = subscriptions();
        const auto which = static_cast<std::size_t>(kind);
        MutexLock guard(all.mutex);
        if (const auto found = all.threads[which].find(self); found != all.threads[which].end())
            reports = found->second;
    }
    const auto outcome = reports ? reports->process(timeout_ms) : ReportThread::Outcome::nobody_left;
    switch (outcome) {
        case ReportThread::Outcome::ran:
            return {};
        case ReportThread::Outcome::timed_out:
            return fail(code::report_timeout, "no callback arrived within {} ms", timeout_ms);
        case ReportThread::Outcome::nobody_left:
            break;
    }
    return fail(code::thread_subscribe, "no stream is subscribed to this thread");
}

void forget_stream(Handle stream) noexcept {
    try {
        std::deque<ReportedCall> left[2];
        {
            MutexLock guard(subscriptions().mutex);
            for (std::size_t which = 0; which < 2; ++which) left[which] = subscriptions().remove(which, stream);
        }
        for (const auto& entries : left) give_up(entries);
    } catch (...) {
    }
}

}  // namespace canopy
