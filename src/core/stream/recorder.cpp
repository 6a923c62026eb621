// SPDX-License-Identifier: Apache-2.0
#include "core/stream/recorder.h"

#include "core/check/host_check.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream_hooks.h"

namespace canopy {

Result<std::uint64_t> Stream::submit_watched(std::span<Command> commands) noexcept {
    if (recorder) {
        if (HostCheck* const check = HostCheck::present())
            for (const Command& command : commands) check->recorded(static_cast<std::uint32_t>(id), command.task);
        return recorder->record(*this, commands);
    }
    if (is_default) CANOPY_TRY(check_unsafe(UnsafeCall::default_stream, this));
    Result<std::uint64_t> sequence = dumped_launches.load(std::memory_order_acquire)
                                         ? stream_hooks.submit_dumped(*this, commands)
                                         : queue->submit(commands);
    if (sequence.ok()) last_sequence = *sequence;
    return sequence;
}

void watch_launches(bool wanted) {
    dumped_launches.store(wanted, std::memory_order_release);
    Runtime::instance().streams.for_each([](Pin<Stream> stream) {
        SpinGuard guard(stream->lock);
        stream->set_recorder(stream->recorder);
    });
}

void Stream::end_recording() noexcept {
    if (!recorder) return;
    recorder->stream_ended(*this);
    set_recorder(nullptr);
}

}  // namespace canopy
