// SPDX-License-Identifier: Apache-2.0
// Records of calls of the interface. A call inside another one of the same thread, as from a callback, is part of that
// one.
#include <utility>

#include "api/api.h"
#include "base/ticks.h"
#include "core/process/runtime.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

// What the thread had done when its call began.
struct CallBegin {
    const char* function = "";
    std::uint32_t depth = 0;
    std::uint32_t last_task = 0;
    Handle last_stream = 0;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit CallBegin at_begin;

}  // namespace

void begin_recorded_call() noexcept {
    if (thread_state.call_began != 0) {
        ++at_begin.depth;
        return;
    }
    at_begin = {thread_state.function, 0, thread_state.last_task, thread_state.last_stream};
    thread_state.call_began = ticks();
}

int end_recorded_call(int code) noexcept {
    if (at_begin.depth != 0) {
        --at_begin.depth;
        return code;
    }
    const Ticks end = ticks();
    record::Record record{};
    record.begin = std::exchange(thread_state.call_began, 0);
    record.duration = record::duration_between(record.begin, end);
    record.kind = static_cast<std::uint64_t>(profile::Kind::call);
    record.name = record::name_number_of_literal(at_begin.function);
    record.object = static_cast<std::uint32_t>(code);
    const bool same_stream = thread_state.last_stream == at_begin.last_stream;
    if (!same_stream || thread_state.last_task != at_begin.last_task) {
        if (const Pin<Stream> stream = Runtime::instance().streams.pin(thread_state.last_stream)) {
            record.link = profile::link_of(static_cast<std::uint32_t>(stream->id), thread_state.last_task);
            record.argument = same_stream ? thread_state.last_task - at_begin.last_task : 1;
        }
    }
    record::write(record);
    return code;
}

}  // namespace canopy
