// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream_callbacks.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

constexpr std::size_t max_threads = 1024;

// ---- stream state --------------------------------------------------------------------------------------------------

struct StateCallback {
    StreamStateFunction function;
    void* argument;
};
struct StateCallbacks {
    std::mutex mutex;
    std::map<std::string, StateCallback, std::less<>> by_name;
};
StateCallbacks& state_callbacks() {
    static StateCallbacks* instance = new StateCallbacks;
    return *instance;
}

}  // namespace

Status register_stream_state_callback(std::string_view name, StreamStateFunction function, void* argument) {
    std::lock_guard guard(state_callbacks().mutex);
    auto& all = state_callbacks().by_name;
    const auto entry = all.find(name);
    if (!function) {
        if (entry == all.end()) return fail(code::param_invalid, "no stream-state callback is named {}", name);
        all.erase(entry);
        return {};
    }
    if (entry != all.end()) return fail(code::param_invalid, "a stream-state callback named {} already exists", name);
    all.emplace(name, StateCallback{function, argument});
    return {};
}

void notify_stream_state(Handle stream, StreamStage stage) noexcept {
    try {
        std::vector<StateCallback> all;
        {
            std::lock_guard guard(state_callbacks().mutex);
            for (const auto& [name, callback] : state_callbacks().by_name) all.push_back(callback);
        }
        for (const StateCallback& callback : all)
            callback.function(opaque_of(stream), static_cast<std::int32_t>(stage), callback.argument);
    } catch (...) {
    }
}

// ---- calls on threads of the program -------------------------------------------------------------------------------

namespace {

// A call for a thread of the program. `done`, if any, lets the stream go on.
struct Entry {
    Handle stream;
    std::optional<std::uint64_t> thread;  // whose call it is; unset: that of whoever is subscribed when its turn comes
    CallWork call;
    void (*done)(void*);
    void* token;
    bool recorded = false;  // part of a graph: it goes to its thread, whatever became of the stream
};

void give_up(const Entry& entry) noexcept {
    if (entry.call.dropped) entry.call.dropped(entry.call.argument);
    if (entry.done) entry.done(entry.token);
}
void give_up(const std::deque<Entry>& entries) noexcept {
    for (const Entry& entry : entries) give_up(entry);
}

// A host function launched while a thread was subscribed. Only that thread may run it: when the subscription has ended
// before its turn, it comes to somebody else and is given up there.
struct ThreadCall {
    std::uint64_t thread;
    void (*function)(void*);
    void* argument;

    static void run(void* data) {
        const auto* const own = static_cast<const ThreadCall*>(data);
        if (own->thread == static_cast<std::uint64_t>(pthread_self())) own->function(own->argument);
    }
    static void skip(void*) {}
    static void dispose(void* data) { delete static_cast<ThreadCall*>(data); }
};

// What waits for one thread of the program, from its first subscription to its last.
class ReportThread {
public:
    void add(const Entry& entry) {
        {
            std::lock_guard guard(mutex_);
            entries_.push_back(entry);
        }
        news_.notify_all();
    }

    enum class Outcome { ran, timed_out, nobody_left };
    Outcome process(std::int32_t timeout_ms) {
        std::unique_lock lock(mutex_);
        const auto has_news = [this] { return !entries_.empty() || !subscribed_; };
        if (timeout_ms < 0)
            news_.wait(lock, has_news);
        else if (!news_.wait_for(lock, std::chrono::milliseconds(timeout_ms), has_news))
            return Outcome::timed_out;
        if (entries_.empty()) return Outcome::nobody_left;
        while (!entries_.empty()) {
            const Entry entry = entries_.front();
            entries_.pop_front();
            lock.unlock();
            entry.call.function(entry.call.argument);
            if (entry.done) entry.done(entry.token);
            lock.lock();
        }
        return Outcome::ran;
    }

    // Takes out what has not been run for a stream.
    std::deque<Entry> take_out(Handle stream) {
        std::deque<Entry> taken;
        std::lock_guard guard(mutex_);
        for (const Entry& entry : entries_)
            if (entry.stream == stream) taken.push_back(entry);
        std::erase_if(entries_, [&](const Entry& entry) { return entry.stream == stream; });
        return taken;
    }

    // Without any stream a thread does not wait for calls.
    void set_subscribed(bool subscribed) {
        {
            std::lock_guard guard(mutex_);
            subscribed_ = subscribed;
        }
        news_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Entry> entries_;
    bool subscribed_ = false;
};

void raise_and_release(void* token) {
    auto* fence = static_cast<Fence*>(token);
    fence->signal(SignalMode::set, 1);
    fence->release();
}

// A callback in a stream. It may run any number of times when it is part of a graph; each time the call holds a
// reference to the fence of its own, because it may be over after the command has gone.
struct QueuedCallback {
    Entry entry;
    Fence* fence;  // raised when a blocking call is over; null otherwise

    explicit QueuedCallback(const Entry& call, Fence* raised) noexcept : entry(call), fence(raised) {}
    ~QueuedCallback() {
        if (fence) fence->release();
    }
    QueuedCallback(const QueuedCallback&) = delete;
    QueuedCallback& operator=(const QueuedCallback&) = delete;

    static void run(void* data);
    static void give_up(void* data) { canopy::give_up(static_cast<QueuedCallback*>(data)->start()); }
    static void dispose(void* data) { delete static_cast<QueuedCallback*>(data); }

private:
    [[nodiscard]] Entry start() const noexcept {
        Entry call = entry;
        if (fence) {
            fence->retain();
            call.done = &raise_and_release;
            call.token = fence;
        }
        return call;
    }
};

// Lock order: this mutex, then a thread's.
struct Subscriptions {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<ReportThread>> threads[2];  // by kind
    std::map<Handle, std::uint64_t> streams[2];                         // stream -> thread
    std::atomic<std::size_t> stream_count[2] = {};                      // of them, for a look without the mutex

    [[nodiscard]] bool has_streams(std::size_t which, std::uint64_t thread) const {
        for (const auto& [stream, owner] : streams[which])
            if (owner == thread) return true;
        return false;
    }
    // Ends the subscription of a stream; what was to be run for it comes back.
    std::deque<Entry> remove(std::size_t which, Handle stream) {
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
Subscriptions& subscriptions() {
    static Subscriptions* instance = new Subscriptions;
    return *instance;
}

// The thread a stream's calls go to, if it has one.
std::optional<std::uint64_t> subscribed_thread(ReportKind kind, Handle stream) {
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    if (all.stream_count[which].load(std::memory_order_relaxed) == 0) return std::nullopt;
    std::lock_guard guard(all.mutex);
    const auto found = all.streams[which].find(stream);
    if (found == all.streams[which].end()) return std::nullopt;
    return found->second;
}

// Hands a call to the thread of its stream; when that is none, or another one by now, it is given up.
void deliver(ReportKind kind, const Entry& entry) noexcept {
    try {
        Subscriptions& all = subscriptions();
        const auto which = static_cast<std::size_t>(kind);
        std::lock_guard guard(all.mutex);
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

void QueuedCallback::run(void* data) { deliver(ReportKind::callback, static_cast<QueuedCallback*>(data)->start()); }

}  // namespace

Status subscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, true);
    if (!stream.ok()) return stream.status();
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    std::lock_guard guard(all.mutex);
    if (all.streams[which].count((*stream)->self) != 0)
        return fail(code::stream_subscribe, "stream {} is already subscribed to a thread", (*stream)->id);
    if (all.threads[which].count(thread) == 0 && all.threads[which].size() >= max_threads)
        return fail(code::thread_subscribe, "{} threads have already subscribed, the maximum", max_threads);
    std::shared_ptr<ReportThread>& target = all.threads[which][thread];
    if (!target) target = std::make_shared<ReportThread>();
    all.streams[which].emplace((*stream)->self, thread);
    all.stream_count[which].fetch_add(1, std::memory_order_relaxed);
    target->set_subscribed(true);
    if (kind == ReportKind::host_function) (*stream)->queue->set_router(stream->get());
    return {};
}

Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, false);
    if (!stream.ok()) return stream.status();
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    std::deque<Entry> left;
    {
        std::lock_guard guard(all.mutex);
        const auto entry = all.streams[which].find((*stream)->self);
        if (entry == all.streams[which].end() || entry->second != thread)
            return fail(code::stream_subscribe, "stream {} is not subscribed to thread {}", (*stream)->id, thread);
        if (kind == ReportKind::host_function) (*stream)->queue->set_router(nullptr);
        left = all.remove(which, (*stream)->self);
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
        std::lock_guard guard(all.mutex);
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

namespace {

bool is_recorded(const Stream& stream) noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS { return stream.recorder != nullptr; }

}  // namespace

Status launch_callback(HostFunction function, void* argument, bool block, const void* opaque) {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    const Handle self = (*stream)->self;
    const std::optional<std::uint64_t> thread = subscribed_thread(ReportKind::callback, self);
    if (!thread)
        return fail(code::no_callback, "no thread is subscribed to stream {}: call aclrtSubscribeReport first",
                    (*stream)->id);
    // The call is handed over in stream order; a blocking one raises a fence when it is done, and the stream waits
    // there and lowers it again, for the next replay if it is part of a graph.
    Fence* fence = nullptr;
    if (block) {
        Result<Fence*> created = (*stream)->device->create_fence();
        if (!created.ok()) return created.status();
        fence = *created;
    }
    auto queued = std::make_unique<QueuedCallback>(
        Entry{self, thread, {function, argument, nullptr, nullptr}, nullptr, nullptr, is_recorded(**stream)}, fence);
    Command commands[2] = {Command(Opcode::inline_call), Command(Opcode::wait)};
    commands[0].call = {&QueuedCallback::run, queued.get(), &QueuedCallback::give_up, &QueuedCallback::dispose};
    if (block) {
        commands[1].wait = {fence, 1, 0, WaitMode::at_least, true};
        fence->retain();  // while it is submitted: the call may be over before the wait is queued
    }
    const Status status = stream->submit(std::span(commands, block ? 2 : 1));
    if (status.ok()) queued.release();
    if (block) fence->release();
    return status;
}

Status launch_host_function(HostFunction function, void* argument, const void* opaque) {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    Command command(Opcode::host_call);
    command.call = {function, argument, nullptr, nullptr};
    std::unique_ptr<ThreadCall> call;
    const auto thread = subscribed_thread(ReportKind::host_function, (*stream)->self);
    // In a graph it runs where the calls of the replaying stream do.
    if (thread && !is_recorded(**stream)) {
        call = std::make_unique<ThreadCall>(ThreadCall{*thread, function, argument});
        command.call = {&ThreadCall::run, call.get(), &ThreadCall::skip, &ThreadCall::dispose};
    }
    const Status status = stream->submit(command);
    if (status.ok()) call.release();
    return status;
}

void Stream::route(const CallWork& call, void (*done)(void*), void* token) noexcept {
    deliver(ReportKind::host_function, {self, std::nullopt, call, done, token});
}

void forget_stream(Handle stream) noexcept {
    try {
        std::deque<Entry> left[2];
        {
            std::lock_guard guard(subscriptions().mutex);
            for (std::size_t which = 0; which < 2; ++which) left[which] = subscriptions().remove(which, stream);
        }
        for (const auto& entries : left) give_up(entries);
    } catch (...) {
    }
}

}  // namespace canopy
