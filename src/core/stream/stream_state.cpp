// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream_state.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/process_state.h"

namespace canopy {
namespace {

struct StateCallback {
    StreamStateFunction function;
    void* argument;
};
struct StateCallbacks {
    std::mutex mutex;
    std::map<std::string, StateCallback, std::less<>> by_name;
};
StateCallbacks& state_callbacks() { return process_state<StateCallbacks>(); }

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

}  // namespace canopy
