// SPDX-License-Identifier: Apache-2.0
#include "core/check/process_check.h"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "check/classes.h"
#include "check/trace.h"
#include "foundation/readable_name.h"

namespace canopy {

namespace {

constinit const CheckHooks no_hooks;
std::atomic<ProcessCheck*> the_check{nullptr};

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);  // programs may have given it a buffer
}

bool colours_wanted() {
    const char* const terminal = std::getenv("TERM");
    const char* const none = std::getenv("NO_COLOR");
    return ::isatty(STDERR_FILENO) == 1 && (none == nullptr || *none == '\0') &&
           (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

check::Options with_trace(check::Options options, std::vector<std::string>& problems) {
    if (options.report.trace.empty()) return options;
    Problem problem;
    options.check.trace = check::TraceFile::create(options.report.trace, problem);
    if (problem) problems.push_back(problem.message());
    return options;
}

}  // namespace

void ProcessCheck::begin(std::string_view classes, std::string_view text, bool quiet,
                         std::vector<std::string>& problems) {
    std::vector<std::string> wrong;
    std::string unknown_class;
    check::Options options;
    options.check.classes = check::parse_classes(classes, unknown_class).value_or(check::Classes());
    check::read_options(text, options, wrong);
    (new ProcessCheck(options, quiet, wrong))->keep();
    for (const std::string& problem : wrong) problems.push_back("CANOPY_CHECK_OPTIONS: " + problem);
}

Problem ProcessCheck::prepare(std::string_view classes, std::string_view text) {
    std::vector<std::string> wrong;
    std::string unknown_class;
    const auto chosen = check::parse_classes(classes, unknown_class);
    if (!chosen) return {unknown_class};
    check::Options options;
    options.check.classes = *chosen;
    check::read_options(text, options, wrong);
    options.report.exit_code = 0;
    if (!wrong.empty()) return {wrong.front()};
    auto* const made = new ProcessCheck(options, true, wrong);
    made->parts_ = 0;
    made->whole_ = false;
    made->keep();
    return wrong.empty() ? Problem() : Problem{wrong.front()};
}

bool ProcessCheck::end_part() noexcept {
    const std::uint32_t least = whole_ ? 1 : 0;
    std::uint32_t parts = parts_.load(std::memory_order_relaxed);
    while (parts > least)
        if (parts_.compare_exchange_weak(parts, parts - 1, std::memory_order_relaxed)) return true;
    return false;
}

ProcessCheck* ProcessCheck::present() noexcept { return the_check.load(std::memory_order_acquire); }

ProcessCheck::ProcessCheck(const check::Options& options, bool quiet, std::vector<std::string>& problems)
    : options_(with_trace(options, problems)),
      report_(options, ::getpid(), quiet ? check::Report::Print([](std::string_view) {}) : print, colours_wanted(),
              problems),
      hooks_(&no_hooks),
      shows_progress_(!quiet && ::isatty(STDERR_FILENO) == 1),
      began_(now()) {}

void ProcessCheck::keep() {
    the_check.store(this, std::memory_order_release);
    ::on_exit(at_exit, this);
    static ProcessCheck* const self = this;
    ::at_quick_exit([] { self->finish(); });  // its status is not known here
    ::pthread_atfork(
        []() CANOPY_NO_THREAD_SAFETY_ANALYSIS {
            self->mutex_.lock();
            self->report_.before_fork();
        },
        []() CANOPY_NO_THREAD_SAFETY_ANALYSIS {
            self->report_.after_fork();
            self->mutex_.unlock();
        },
        [] { self->begin_in_child(); });
}

// What was found before the fork is its parent's.
void ProcessCheck::begin_in_child() {
    kernels_.clear();
    report_.forget(::getpid());
    mutex_.unlock();
}

// A handler that calls exit again goes on with the handlers that are left, and with its status.
void ProcessCheck::at_exit(int status, void* check) {
    auto& self = *static_cast<ProcessCheck*>(check);
    self.finish();
    const int code = self.options_.report.exit_code;
    if (status == 0 && code != 0 && self.report_.errors() > 0) std::exit(code);
}

void ProcessCheck::finish() noexcept {
    try {
        const check::Summary summary = launches();
        // A process that only starts others has nothing to say.
        if (summary.kernels == 0 && summary.not_checked.empty() && report_.position() == 0) return;
        report_.finish(summary);
    } catch (...) {  // no memory: what was found is written, and its end is missing
    }
}

check::Summary ProcessCheck::launches() const {
    check::Summary summary;
    MutexLock lock(mutex_);
    for (const auto& [name, kernel] : kernels_) {
        if (kernel.launches > kernel.unchecked) ++summary.kernels;
        summary.launches += kernel.launches - std::min(kernel.launches, kernel.unchecked);
        if (kernel.unchecked > 0) summary.not_checked.emplace_back(short_name(name), kernel.reason);
    }
    std::sort(summary.not_checked.begin(), summary.not_checked.end());
    return summary;
}

bool ProcessCheck::wants(std::string_view name) noexcept {
    if (parts_.load(std::memory_order_relaxed) == 0) return false;
    try {
        MutexLock lock(mutex_);
        const auto [found, fresh] = kernels_.try_emplace(std::string(name));
        Kernel& kernel = found->second;
        const std::vector<std::string>& patterns = options_.report.kernels;
        if (fresh && !patterns.empty())
            kernel.chosen = std::any_of(patterns.begin(), patterns.end(),
                                        [&](const std::string& pattern) { return check::fits(pattern, found->first); });
        if (!kernel.chosen || (options_.report.first && kernel.launches == *options_.report.first)) return false;
        ++kernel.launches;
        return true;
    } catch (...) {  // no memory
        return false;
    }
}

bool ProcessCheck::wants_block(std::uint32_t block) const noexcept {
    return !options_.report.block || *options_.report.block == block;
}

bool ProcessCheck::launch_ended(const CheckedLaunch& launch, std::vector<check::TouchedRange> touched) noexcept {
    try {
        if (const auto take = hooks_.load(std::memory_order_acquire)->launch_touched) take(launch, std::move(touched));
        report_.tell();
        show_progress();
        return options_.report.stop && report_.has_error_in(launch.kernel) && !stopped_.exchange(true);
    } catch (...) {  // no memory: said at the end
        return false;
    }
}

// A line now and then, so that a person sees that a long run goes on.
void ProcessCheck::show_progress() {
    if (!shows_progress_) return;
    const Nanoseconds passed = now() - began_;
    Nanoseconds due = next_progress_.load(std::memory_order_relaxed);
    if (passed < due || !next_progress_.compare_exchange_strong(due, passed * 2)) return;
    const check::Summary so_far = launches();
    print(fmt::format("canopy check: {} s, {} launches of {} kernels, {} errors so far\n", passed / second,
                      so_far.launches, so_far.kernels, report_.errors()));
}

void ProcessCheck::not_checked(std::string_view name, std::string_view reason) noexcept {
    try {
        MutexLock lock(mutex_);
        Kernel& kernel = kernels_[std::string(name)];
        ++kernel.unchecked;
        if (kernel.reason.empty()) kernel.reason = reason;
    } catch (...) {  // no memory
    }
}

Expected<std::vector<std::byte>> ProcessCheck::checking_code(const std::string& text, std::string_view kernel) {
    return hooks_.load(std::memory_order_acquire)->checking_code(text, kernel);
}

std::string ProcessCheck::origin(unsigned device, std::uint64_t address) const noexcept {
    try {
        const auto find = hooks_.load(std::memory_order_acquire)->origin;
        return find ? find(device, address) : std::string();
    } catch (...) {
        return {};
    }
}

}  // namespace canopy
