// SPDX-License-Identifier: Apache-2.0
#include "base/error_text.h"

#include <atomic>

#include "base/process_state.h"
#include "base/thread_object.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t longest_text = 16 * 1024;  // the oldest messages are cut off

struct Texts {
    std::string collected;  // newest first
    std::string handed_out;

    void add(std::string_view entry) {
        collected.insert(0, entry);
        if (collected.size() > longest_text) collected.resize(longest_text);
    }
    const char* take() {
        if (collected.empty()) return nullptr;
        handed_out.swap(collected);
        collected.clear();
        return handed_out.c_str();
    }
};

struct ThreadTexts {
    Texts recent;
    std::string newest;
};

// Null without memory: callers get codes without messages.
ThreadTexts* thread_texts() noexcept { return ThreadObject<ThreadTexts>::get(); }

thread_local constinit NewestError thread_newest_error;
std::atomic<ErrorTextScope> scope{ErrorTextScope::thread};

struct ProcessTexts {
    Mutex mutex;
    Texts texts CANOPY_GUARDED_BY(mutex);

    static ProcessTexts& instance() { return process_state<ProcessTexts>(); }
};

// The id at the start of a message, by code family.
std::string_view message_id(int code) {
    switch (code) {
        case 107019:
        case 107020:
        case 507046:
        case 507047:
            return "EE1002";
        case 207000:
            return "EE1006";
        case 207001:
        case 207018:
            return "EL0004";
        case 207005:
        case 207007:
        case 207008:
        case 207009:
            return "EE1023";
        case 107000:
            return "EE1003";
        default:
            break;
    }
    if (code >= 100000 && code < 107000) return "EH0001";
    if (code >= 507000) return "EE9999";
    return "EE1001";
}

void remember(std::string_view id, int code, std::string_view text) noexcept {
    try {
        thread_newest_error = {};
        ThreadTexts* own = thread_texts();
        if (own) own->newest = text;
        thread_newest_error = {id, code};
        const std::string entry = fmt::format("{}: {} (code {})\n", id, text, code);
        if (scope.load(std::memory_order_relaxed) == ErrorTextScope::thread) {
            if (own) own->recent.add(entry);
        } else {
            ProcessTexts& all = ProcessTexts::instance();
            MutexLock guard(all.mutex);
            all.texts.add(entry);
        }
    } catch (...) {  // no memory for the message: return the code alone
    }
}

}  // namespace

Status fail_text(int code, std::string_view text) {
    remember(message_id(code), code, text);
    return Status(code);
}

Status vfail(int code, fmt::string_view format, fmt::format_args arguments) {
    return fail_text(code, fmt::vformat(format, arguments));
}

Status fail_null(std::string_view argument) {
    constexpr int invalid_parameter = 100000;
    remember("EH0002", invalid_parameter, fmt::format("Argument {} must not be null", argument));
    return Status(invalid_parameter);
}

const char* take_error_text() {
    if (scope.load(std::memory_order_relaxed) == ErrorTextScope::thread) {
        ThreadTexts* own = thread_texts();
        return own ? own->recent.take() : nullptr;
    }
    ProcessTexts& all = ProcessTexts::instance();
    MutexLock guard(all.mutex);
    return all.texts.take();
}

const std::string& newest_error_text() noexcept {
    const ThreadTexts* own = thread_texts();
    return own ? own->newest : process_state<const std::string>();
}
NewestError newest_error() noexcept { return thread_newest_error; }

void set_error_text_scope(ErrorTextScope new_scope) { scope.store(new_scope, std::memory_order_relaxed); }

}  // namespace canopy
