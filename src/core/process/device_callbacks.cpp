// SPDX-License-Identifier: Apache-2.0
#include "core/process/device_callbacks.h"

#include <map>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

// Functions by name. Copied before the calls, so that a callback may register and unregister.
template <class Function>
class CallbackSet {
public:
    struct Entry {
        Function function;
        void* argument;
    };

    bool add(std::string_view name, Function function, void* argument) {
        MutexLock guard(mutex_);
        return entries_.try_emplace(std::string(name), Entry{function, argument}).second;
    }
    void set(std::string_view name, Function function, void* argument) {
        MutexLock guard(mutex_);
        entries_.insert_or_assign(std::string(name), Entry{function, argument});
    }
    bool remove(std::string_view name) {
        MutexLock guard(mutex_);
        const auto found = entries_.find(name);
        if (found == entries_.end()) return false;
        entries_.erase(found);
        return true;
    }
    std::vector<Entry> all() {
        MutexLock guard(mutex_);
        std::vector<Entry> result;
        result.reserve(entries_.size());
        for (const auto& [name, entry] : entries_) result.push_back(entry);
        return result;
    }

private:
    Mutex mutex_;
    std::map<std::string, Entry, std::less<>> entries_ CANOPY_GUARDED_BY(mutex_);
};

CallbackSet<DeviceStateFunction>& state_callbacks() { return process_state<CallbackSet<DeviceStateFunction>>(); }

CallbackSet<TaskAbortFunction>& abort_callbacks() { return process_state<CallbackSet<TaskAbortFunction>>(); }

template <class Function>
Status take_out(CallbackSet<Function>& callbacks, std::string_view name) {
    if (callbacks.remove(name)) return {};
    return fail(code::param_invalid, "regName \"{}\" is not registered", name);
}

}  // namespace

Status register_device_state_callback(std::string_view name, DeviceStateFunction function, void* argument) {
    if (function == nullptr) return take_out(state_callbacks(), name);
    if (state_callbacks().add(name, function, argument)) return {};
    return fail(code::param_invalid, "regName \"{}\" is already registered", name);
}

Status register_task_abort_callback(std::string_view name, TaskAbortFunction function, void* argument) {
    if (function == nullptr) return take_out(abort_callbacks(), name);
    abort_callbacks().set(name, function, argument);
    return {};
}

void notify_device_state(std::int32_t device, DeviceStage stage) noexcept {
    try {
        for (const auto& entry : state_callbacks().all())
            entry.function(device, static_cast<std::int32_t>(stage), entry.argument);
    } catch (...) {  // no memory for the copy: no callback is called
    }
}

std::int32_t notify_task_abort(std::int32_t device, AbortStage stage, std::uint32_t timeout_ms) noexcept {
    try {
        for (const auto& entry : abort_callbacks().all()) {
            const std::int32_t answer =
                entry.function(device, static_cast<std::int32_t>(stage), timeout_ms, entry.argument);
            if (answer != 0) return answer;
        }
    } catch (...) {
        return -1;
    }
    return 0;
}

}  // namespace canopy
