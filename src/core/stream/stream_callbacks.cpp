// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream_callbacks.h"

#include <pthread.h>

#include <memory>
#include <optional>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

// A host function launched while a thread was subscribed. Only that thread may run it: if the subscription ends first,
// the call reaches another thread, which skips it.
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

void raise_and_release(void* token) {
    auto* fence = static_cast<Fence*>(token);
    fence->signal(SignalMode::set, 1);
    fence->release();
}

// A callback in a stream. In a graph it may run any number of times; each run holds its own reference to the fence,
// because it may finish after the command is gone.
struct QueuedCallback {
    ReportedCall entry;
    Fence* fence;  // raised when a blocking call is done; null otherwise

    explicit QueuedCallback(const ReportedCall& call, Fence* raised) noexcept : entry(call), fence(raised) {}
    ~QueuedCallback() {
        if (fence) fence->release();
    }
    QueuedCallback(const QueuedCallback&) = delete;
    QueuedCallback& operator=(const QueuedCallback&) = delete;

    static void run(void* data) { deliver(ReportKind::callback, static_cast<QueuedCallback*>(data)->start()); }
    static void give_up(void* data) { canopy::give_up(static_cast<QueuedCallback*>(data)->start()); }
    static void dispose(void* data) { delete static_cast<QueuedCallback*>(data); }

private:
    [[nodiscard]] ReportedCall start() const noexcept {
        ReportedCall call = entry;
        if (fence) {
            fence->retain();
            call.done = &raise_and_release;
            call.token = fence;
        }
        return call;
    }
};

Subscriber subscriber(Stream& stream) noexcept { return {stream.self, stream.id, stream.queue.get(), &stream}; }

bool is_recorded(const LockedStream& stream) noexcept {
    stream->assert_locked();
    return stream->recorder != nullptr;
}

}  // namespace

Status subscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, true);
    if (!stream.ok()) return stream.status();
    return add_subscription(kind, thread, subscriber(**stream));
}

Status unsubscribe(ReportKind kind, std::uint64_t thread, const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, false);
    if (!stream.ok()) return stream.status();
    return end_subscription(kind, thread, subscriber(**stream));
}

Status launch_callback(HostFunction function, void* argument, bool block, const void* opaque) {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    const Handle self = (*stream)->self;
    const std::optional<std::uint64_t> thread = subscribed_thread(ReportKind::callback, self);
    if (!thread)
        return fail(code::no_callback, "no thread is subscribed to stream {}: call aclrtSubscribeReport first",
                    (*stream)->id);
    // The call is handed over in stream order. A blocking call raises a fence when done; the stream waits for the fence
    // and lowers it again, for the next replay if it is part of a graph.
    Fence* fence = nullptr;
    if (block) {
        Result<Fence*> created = (*stream)->device->create_fence();
        if (!created.ok()) return created.status();
        fence = *created;
    }
    auto queued = std::make_unique<QueuedCallback>(
        ReportedCall{self, thread, {function, argument, nullptr, nullptr}, nullptr, nullptr, is_recorded(*stream)},
        fence);
    Command commands[2] = {Command(Opcode::inline_call), Command(Opcode::wait)};
    commands[0].call = {&QueuedCallback::run, queued.get(), &QueuedCallback::give_up, &QueuedCallback::dispose};
    if (block) {
        commands[1].wait = {fence, 1, 0, WaitMode::at_least, true};
        fence->retain();  // during submission: the call may finish before the wait is queued
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
    // In a graph it runs where the replaying stream's calls run.
    if (thread && !is_recorded(*stream)) {
        call = std::make_unique<ThreadCall>(ThreadCall{*thread, function, argument});
        command.call = {&ThreadCall::run, call.get(), &ThreadCall::skip, &ThreadCall::dispose};
    }
    const Status status = stream->submit(command);
    if (status.ok()) call.release();
    return status;
}

}  // namespace canopy
