// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream_state.h"

#include <map>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct StateCallback {
    StreamStateFunction function;
    void* argument;
};
struct StateCallbacks {
    Mutex mutex;
    std::map<std::string, StateCallback, std::less<>> by_name CANOPY_GUARDED_BY(mutex);
};
StateCallbacks& state_callbacks() { return process_state<StateCallbacks>(); }

}  // namespace

Status register_stream_state_callback(std::string_view name, StreamStateFunction function, void* argument) {
    MutexLock guard(state_callbacks().mutex);
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
            MutexLock guard(state_callbacks().mutex);
            for (const auto& [name, callback] : state_callbacks().by_name) all.push_back(callback);
        }
        for (const StateCallback& callback : all)
            callback.function(opaque_of(stream), static_cast<std::int32_t>(stage), callback.argument);
    } catch (...) {
    }
}

}  // namespace canopy
