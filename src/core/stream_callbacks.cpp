// SPDX-License-Identifier: Apache-2.0
#include "core/stream_callbacks.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "core/error_codes.h"
#include "core/stream.h"

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
    if (entry != all.end()) return fail(code::param_invalid, "a stream-state callback named {} exists already", name);
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

// What waits for one thread of the program. Made at the first subscription, kept for the process: streams hold its
// address.
class ReportThread final : public CallRouter {
public:
    void route(const CallWork& call, void (*done)(void*), void* token) noexcept override { add(call, done, token); }

    void add(const CallWork& call, void (*done)(void*), void* token) noexcept {
        {
            std::lock_guard guard(mutex_);
            try {
                entries_.push_back({call, done, token});
            } catch (...) {
                if (done) done(token);
                return;
            }
        }
        news_.notify_all();
    }

    // True when something was run before the time was over.
    bool process(std::int32_t timeout_ms) {
        std::unique_lock lock(mutex_);
        const auto has_news = [this] { return !entries_.empty(); };
        if (timeout_ms < 0) news_.wait(lock, has_news);
        else if (!news_.wait_for(lock, std::chrono::milliseconds(timeout_ms), has_news)) return false;
        while (!entries_.empty()) {
            const Entry entry = entries_.front();
            entries_.pop_front();
            lock.unlock();
            entry.call.function(entry.call.argument);
            if (entry.done) entry.done(entry.token);
            lock.lock();
        }
        return true;
    }

    // Nobody will run what is left: streams go on without it.
    void give_up() {
        std::deque<Entry> left;
        {
            std::lock_guard guard(mutex_);
            left.swap(entries_);
        }
        for (const Entry& entry : left)
            if (entry.done) entry.done(entry.token);
    }

private:
    struct Entry {
        CallWork call;
        void (*done)(void*);
        void* token;
    };
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Entry> entries_;
};

void raise_and_release(void* token) {
    auto* fence = static_cast<Fence*>(token);
    fence->signal(SignalMode::set, 1);
    fence->release();
}

struct Subscriptions {
    std::mutex mutex;
    std::map<std::uint64_t, std::unique_ptr<ReportThread>> threads[2];  // by kind
    std::map<Handle, std::uint64_t> streams[2];                         // stream -> thread
};
Subscriptions& subscriptions() {
    static Subscriptions* instance = new Subscriptions;
    return *instance;
}

ReportThread* thread_of_stream(ReportKind kind, Handle stream) {
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    std::lock_guard guard(all.mutex);
    const auto entry = all.streams[which].find(stream);
    return entry == all.streams[which].end() ? nullptr : all.threads[which][entry->second].get();
}

bool has_streams(const Subscriptions& all, std::size_t which, std::uint64_t thread) {
    for (const auto& [stream, owner] : all.streams[which])
        if (owner == thread) return true;
    return false;
}

}  // namespace

Status subscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, true);
    if (!stream.ok()) return stream.status();
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    std::lock_guard guard(all.mutex);
    if (all.streams[which].count((*stream)->self) != 0)
        return fail(code::stream_subscribe, "stream {} is subscribed to a thread already", (*stream)->id);
    std::unique_ptr<ReportThread>& target = all.threads[which][thread];
    if (!target) {
        if (all.threads[which].size() > max_threads) {
            all.threads[which].erase(thread);
            return fail(code::thread_subscribe, "{} threads have subscribed already, the most there can be", max_threads);
        }
        target = std::make_unique<ReportThread>();
    }
    all.streams[which].emplace((*stream)->self, thread);
    if (kind == ReportKind::host_function) (*stream)->queue->set_router(target.get());
    return {};
}

Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, false);
    if (!stream.ok()) return stream.status();
    Subscriptions& all = subscriptions();
    const auto which = static_cast<std::size_t>(kind);
    ReportThread* last = nullptr;
    {
        std::lock_guard guard(all.mutex);
        const auto entry = all.streams[which].find((*stream)->self);
        if (entry == all.streams[which].end() || entry->second != thread)
            return fail(code::stream_subscribe, "stream {} is not subscribed to thread {}", (*stream)->id, thread);
        all.streams[which].erase(entry);
        if (kind == ReportKind::host_function) (*stream)->queue->set_router(nullptr);
        if (!has_streams(all, which, thread)) last = all.threads[which][thread].get();
    }
    if (last) last->give_up();
    return {};
}

Status process_reports(ReportKind kind, std::int32_t timeout_ms) {
    if (timeout_ms == 0 || timeout_ms < -1)
        return fail(code::invalid_parameter, "timeout {} is neither -1 nor a positive number of milliseconds",
                    timeout_ms);
    const auto self = static_cast<std::uint64_t>(pthread_self());
    ReportThread* reports = nullptr;
    {
        Subscriptions& all = subscriptions();
        const auto which = static_cast<std::size_t>(kind);
        std::lock_guard guard(all.mutex);
        const auto entry = all.threads[which].find(self);
        if (entry != all.threads[which].end() && has_streams(all, which, self)) reports = entry->second.get();
    }
    if (!reports) return fail(code::thread_subscribe, "no stream is subscribed to this thread");
    if (!reports->process(timeout_ms))
        return fail(code::report_timeout, "no callback came within {} ms", timeout_ms);
    return {};
}

Status launch_callback(HostFunction function, void* argument, bool block, const void* opaque) {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    ReportThread* reports = thread_of_stream(ReportKind::callback, (*stream)->self);
    if (!reports)
        return fail(code::no_callback, "no thread is subscribed to stream {}: call aclrtSubscribeReport first",
                    (*stream)->id);
    // The call is handed over in stream order; a blocking one raises a fence when it is done, and the stream waits there.
    struct Report {
        ReportThread* reports;
        CallWork call;
        Fence* done;
    };
    Fence* fence = nullptr;
    if (block) {
        Result<Fence*> created = (*stream)->device->create_fence();
        if (!created.ok()) return created.status();
        fence = *created;
    }
    auto report = std::make_unique<Report>(Report{reports, {function, argument, nullptr}, fence});
    Command commands[2] = {Command(Opcode::inline_call), Command(Opcode::wait)};
    commands[0].call.argument = report.get();
    commands[0].call.function = [](void* data) {
        const std::unique_ptr<Report> own(static_cast<Report*>(data));
        own->reports->add(own->call, own->done ? &raise_and_release : nullptr, own->done);
    };
    commands[0].call.dropped = [](void* data) {
        const std::unique_ptr<Report> own(static_cast<Report*>(data));
        if (own->done) own->done->release();
    };
    if (block) commands[1].wait = {fence, 1, 0, WaitMode::at_least, false};
    const Status status = stream->submit(std::span(commands, block ? 2 : 1));
    if (status.ok()) report.release();
    else if (fence) fence->release();
    return status;
}

Status launch_host_function(HostFunction function, void* argument, const void* opaque) {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    Command command(Opcode::host_call);
    command.call = {function, argument, nullptr};
    return stream->submit(command);
}

void forget_stream(Handle stream) noexcept {
    Subscriptions& all = subscriptions();
    std::lock_guard guard(all.mutex);
    for (auto& by_stream : all.streams) by_stream.erase(stream);
}

}  // namespace canopy
