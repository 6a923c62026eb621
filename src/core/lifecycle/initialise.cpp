// SPDX-License-Identifier: Apache-2.0
#include "core/lifecycle/initialise.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/dump/dumping.h"
#include "core/lifecycle/contexts.h"
#include "core/process/configuration.h"
#include "core/process/device_limits.h"
#include "core/process/process_log.h"
#include "core/process/runtime.h"
#include "core/profile/session.h"
#include "core/snapshot/snapshot.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t largest_file = 16u << 20;
constexpr std::int32_t no_device = -1;

template <class Function>
struct Registration {
    std::int32_t kind;
    Function function;
    void* user_data;
};

// Lock order: transition, then state. Callbacks run with transition held (by the thread that runs them, which may call
// any function of the interface) and state free.
struct State {
    RecursiveMutex transition;  // one initialisation or finalisation at a time
    Mutex state;
    std::vector<Registration<InitialiseFunction>> initialise_callbacks CANOPY_GUARDED_BY(state);
    std::vector<Registration<FinaliseFunction>> finalise_callbacks CANOPY_GUARDED_BY(state);

    std::string text CANOPY_GUARDED_BY(transition);  // passed to the callbacks
    // Of the first successful initialisation; never changes afterwards.
    std::optional<std::string> normalised CANOPY_GUARDED_BY(transition);

    std::atomic<std::uint64_t> references{0};
};

State& state() { return process_state<State>(); }

Result<std::string> read_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail(code::invalid_file, "configuration file {} cannot be opened: {}", path, strerror(errno));
    struct stat facts {};
    std::string text;
    Status status;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        status = fail(code::invalid_file, "configuration {} is not a file", path);
    } else if (static_cast<std::size_t>(facts.st_size) > largest_file) {
        status = fail(code::invalid_file, "configuration file {} has {} bytes; at most {} are allowed", path,
                      facts.st_size, largest_file);
    } else {
        text.resize(static_cast<std::size_t>(facts.st_size));
        std::size_t filled = 0;
        while (filled < text.size()) {
            const ssize_t count = read(file, text.data() + filled, text.size() - filled);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            filled += static_cast<std::size_t>(count);
        }
        text.resize(filled);
    }
    close(file);
    if (!status.ok()) return status;
    return text;
}

// Checks the values against the devices that will exist.
Status check_against_devices(const Configuration& configuration) {
    const Settings planned = change_settings(Runtime::instance().settings(), configuration.settings);
    if (configuration.default_device &&
        *configuration.default_device >= static_cast<std::int32_t>(planned.visible.size()))
        return fail(code::invalid_parameter, "defaultDevice.default_device {} is not in [0, {})",
                    *configuration.default_device, planned.visible.size());
    if (configuration.aicore_stack_size && *configuration.aicore_stack_size > planned.chip->max_stack)
        return fail(code::invalid_parameter, "StackSize.aicore_stack_size {} is larger than {}, the limit of {}",
                    *configuration.aicore_stack_size, planned.chip->max_stack, planned.chip->name);
    return {};
}

void configure_limits(const Configuration& configuration) {
    const auto configure = [](DeviceLimit limit, const std::optional<std::uint64_t>& value) {
        if (value) configure_limit(limit, *value);
    };
    configure(DeviceLimit::simd_stack, configuration.aicore_stack_size);
    configure(DeviceLimit::simt_stack, configuration.simt_stack_size);
    configure(DeviceLimit::simt_divergence_stack, configuration.simt_divergence_stack_size);
    configure(DeviceLimit::simt_printf_fifo, configuration.simt_printf_fifo_size);
    configure(DeviceLimit::simd_printf_fifo_per_core, configuration.simd_printf_fifo_size_per_core);
}

// Applies the values. The "canopy" section only affects devices that are not open: once one is open, the section has
// either been applied before (a process keeps its first configuration) or comes too late, and is ignored.
void apply(const Configuration& configuration) {
    if (!configuration.settings.empty()) Runtime::instance().change(configuration.settings);
    configure_limits(configuration);
    begin_dump(configuration.dump);
    set_error_text_scope(configuration.process_wide_error_text ? ErrorTextScope::process : ErrorTextScope::thread);
    Runtime::instance().default_device.store(configuration.default_device.value_or(no_device),
                                             std::memory_order_release);
}

// Undoes the settings that end with an initialisation.
void withdraw() {
    end_dump();
    Runtime::instance().default_device.store(no_device, std::memory_order_release);
    set_error_text_scope(ErrorTextScope::thread);
}

Status run_initialise_callbacks(const std::string& text) {
    State& all = state();
    MutexLock guard(all.state);
    const auto callbacks = all.initialise_callbacks;
    guard.unlock();
    for (const auto& callback : callbacks) {
        const int code = callback.function(text.c_str(), text.size(), callback.user_data);
        if (code != 0) return fail(code, "an initialisation callback of kind {} returned {}", callback.kind, code);
    }
    return {};
}

// The count is already 0.
Status finish(State& all) CANOPY_REQUIRES(all.transition) {
    log_line(LogModule::ascendcl, LogLevel::information, "aclFinalize", "everything is released");
    MutexLock guard(all.state);
    const auto callbacks = all.finalise_callbacks;
    guard.unlock();
    if (HostCheck* const check = HostCheck::present()) check->finalised();
    Status first;
    for (const auto& callback : callbacks) {
        const int code = callback.function(callback.user_data);
        if (code != 0 && first.ok())
            first = fail(code, "a finalisation callback of kind {} returned {}", callback.kind, code);
    }
    end_snapshot();
    release_all_devices();
    end_configured_profiling();
    withdraw();
    return first;
}

Status check_kind(std::int32_t kind) {
    if ((kind >= 0 && kind <= 7) || kind == 0xFFFF) return {};
    return fail(code::invalid_parameter, "type {} is not a callback type", kind);
}

// One of the two lists; guarded by the mutex `state`.
template <class Function>
using Callbacks = std::vector<Registration<Function>> State::*;

// A function is registered once per kind; registering it again replaces its user data.
template <class Function>
Status add(Callbacks<Function> list, std::int32_t kind, Function function, void* user_data) {
    if (function == nullptr) return fail_null("cbFunc");
    CANOPY_TRY(check_kind(kind));
    MutexLock guard(state().state);
    for (auto& entry : state().*list) {
        if (entry.kind == kind && entry.function == function) {
            entry.user_data = user_data;
            return {};
        }
    }
    (state().*list).push_back({kind, function, user_data});
    return {};
}

template <class Function>
Status remove(Callbacks<Function> list, std::int32_t kind, Function function) {
    if (function == nullptr) return fail_null("cbFunc");
    CANOPY_TRY(check_kind(kind));
    MutexLock guard(state().state);
    const auto removed = std::erase_if(
        state().*list, [&](const auto& entry) { return entry.kind == kind && entry.function == function; });
    if (removed == 0) return fail(code::invalid_parameter, "cbFunc is not registered for type {}", kind);
    return {};
}

}  // namespace

Status initialise(const char* path) {
    State& all = state();
    RecursiveLock guard(all.transition);
    if (all.references.load(std::memory_order_relaxed) > 0) {
        all.references.fetch_add(1, std::memory_order_relaxed);
        return fail(code::repeat_initialise, "aclInit was called before; this call only counts a reference");
    }
    const bool has_file = path != nullptr && *path != '\0';
    std::string text;
    if (has_file) {
        auto contents = read_file(path);
        if (!contents.ok()) return contents.status();
        text = std::move(*contents);
    }
    auto configuration = parse_configuration(has_file ? text : "{}");
    if (!configuration.ok()) return configuration.status();
    CANOPY_TRY(check_against_devices(*configuration));
    if (all.normalised && *all.normalised != configuration->normalised)
        return fail(
            code::invalid_parameter,
            "the configuration differs from that of the first aclInit in this process, which cannot be changed");
    apply(*configuration);
    Runtime::instance().report_problems();
    all.references.store(1, std::memory_order_release);
    all.text = text;
    if (Status status = run_initialise_callbacks(text); !status.ok()) {
        all.references.store(0, std::memory_order_release);
        withdraw();
        return status;
    }
    all.normalised = configuration->normalised;
    if (configuration->profiler) start_configured_profiling(*configuration->profiler);
    const Settings& settings = Runtime::instance().settings();
    log_line(LogModule::ascendcl, LogLevel::information, "aclInit", "Canopy {} with {} devices, chip {}",
             CANOPY_VERSION, settings.visible.size(), settings.chip->name);
    for (const std::string& problem : settings.problems)
        log_line(LogModule::ascendcl, LogLevel::warning, "aclInit", "{}", problem);
    return {};
}

Status finalise() {
    State& all = state();
    RecursiveLock guard(all.transition);
    if (all.references.load(std::memory_order_relaxed) == 0)
        return fail(code::repeat_finalise,
                    "not initialised: aclFinalize was already called, or aclInit was not called");
    all.references.store(0, std::memory_order_release);
    return finish(all);
}

Status finalise_reference(std::uint64_t* remaining) {
    State& all = state();
    RecursiveLock guard(all.transition);
    const std::uint64_t references = all.references.load(std::memory_order_relaxed);
    if (remaining != nullptr) *remaining = references == 0 ? 0 : references - 1;
    if (references == 0)
        return fail(code::repeat_finalise, "not initialised: aclInit was not called, or every reference is released");
    all.references.store(references - 1, std::memory_order_release);
    return references == 1 ? finish(all) : Status();
}

bool is_initialised() noexcept { return state().references.load(std::memory_order_acquire) > 0; }

Status register_initialise_callback(std::int32_t kind, InitialiseFunction function, void* user_data) {
    State& all = state();
    RecursiveLock guard(all.transition);
    CANOPY_TRY(add(&State::initialise_callbacks, kind, function, user_data));
    if (!is_initialised()) return {};
    const int code = function(all.text.c_str(), all.text.size(), user_data);
    if (code != 0) return fail(code, "the initialisation callback of kind {} returned {}", kind, code);
    return {};
}

Status unregister_initialise_callback(std::int32_t kind, InitialiseFunction function) {
    return remove(&State::initialise_callbacks, kind, function);
}

Status register_finalise_callback(std::int32_t kind, FinaliseFunction function, void* user_data) {
    return add(&State::finalise_callbacks, kind, function, user_data);
}

Status unregister_finalise_callback(std::int32_t kind, FinaliseFunction function) {
    return remove(&State::finalise_callbacks, kind, function);
}

}  // namespace canopy
