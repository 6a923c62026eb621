// SPDX-License-Identifier: Apache-2.0
#include "core/launch/refused_launches.h"

#include <fmt/core.h>

#include <set>
#include <string>
#include <utility>

#include "base/error_text.h"
#include "base/notice.h"
#include "base/process_state.h"
#include "core/base/thread_state.h"
#include "core/process/runtime.h"
#include "core/stream/recorder.h"
#include "core/stream/stream.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Reported {
    Mutex mutex;
    std::set<std::pair<std::string, int>> kernels CANOPY_GUARDED_BY(mutex);  // with the error code
};

// True if this kernel has not been reported with this code yet.
bool is_news(const char* kernel, int code) {
    Reported& reported = process_state<Reported>();
    MutexLock guard(reported.mutex);
    return reported.kernels.emplace(kernel, code).second;
}

bool give_to_recorder(Stream& stream, int code, const std::string& text) {
    SpinGuard guard(stream.lock);
    if (!stream.recorder) return false;
    stream.recorder->launch_refused(stream, code, text);
    return true;
}

// False if it is not a stream, or one that cannot be synchronised.
bool keep(Handle handle, int code, const std::string& text) {
    const Pin<Stream> stream = Runtime::instance().streams.pin(handle);
    if (!stream) return false;
    if (give_to_recorder(*stream, code, text)) return true;
    if (stream->never_waits()) return false;
    SpinGuard guard(stream->error_lock);
    int none = 0;
    if (stream->error.compare_exchange_strong(none, code, std::memory_order_acq_rel)) stream->error_text = text;
    return true;
}

}  // namespace

void report_refused_launch(const char* kernel, const void* stream, int code) noexcept {
    try {
        const std::string text = fmt::format("kernel {} was not launched: {}", kernel, newest_error_text());
        if (!Runtime::instance().settings().quiet && is_news(kernel, code))
            print_notice(fmt::format("{} (code {})", text, code));
        if (!keep(stream ? handle_of(stream) : thread_state.default_stream, code, text))
            keep(thread_state.default_stream, code, text);
    } catch (...) {  // no memory for the message: the launch has already returned its code
    }
}

}  // namespace canopy
