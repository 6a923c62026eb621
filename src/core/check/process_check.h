// SPDX-License-Identifier: Apache-2.0
// Checking of this process, from CANOPY_CHECK on to its end: which launches are checked, what is found, and the exit
// status. Made once, and never destroyed. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/report/options.h"
#include "check/report/report.h"
#include "device/launch_checker.h"
#include "foundation/clock.h"
#include "foundation/mutex.h"

namespace canopy {

// What folders above know about a process that is checked.
struct CheckHooks {
    // Takes what a launch touched, for the order of streams.
    void (*launch_touched)(const CheckedLaunch& launch, std::vector<check::TouchedRange> touched) noexcept = nullptr;
    // As LaunchChecker.
    Expected<std::vector<std::byte>> (*checking_code)(const std::string& text, std::string_view kernel) = nullptr;
    // Where an allocation comes from, like "aclrtMalloc at main.cpp:12".
    std::string (*origin)(unsigned device, std::uint64_t address) = nullptr;
};

extern const CheckHooks check_hooks;  // defined in core/lifecycle/hooks.cpp

class ProcessCheck final : public LaunchChecker {
public:
    // Begins to check, as CANOPY_CHECK and CANOPY_CHECK_OPTIONS say; `problems` receives which options cannot be used.
    // Called once, before a device is opened.
    static void begin(std::string_view classes, std::string_view options, bool quiet,
                      std::vector<std::string>& problems);
    // The same for a program that checks parts of itself: prints nothing, and keeps the exit status.
    static Problem prepare(std::string_view classes, std::string_view options);
    // nullptr: this process is not checked.
    static ProcessCheck* present() noexcept;

    void set_hooks(const CheckHooks& hooks) noexcept { hooks_.store(&hooks, std::memory_order_release); }
    [[nodiscard]] check::Report& report() noexcept { return report_; }
    // Parts of a program that is prepared; they may overlap. Outside of them no launch is checked inside.
    void begin_part() noexcept { parts_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool in_part() const noexcept { return parts_.load(std::memory_order_relaxed) != 0; }
    // False if none has begun.
    bool end_part() noexcept;

    [[nodiscard]] bool wants(std::string_view kernel) noexcept override;
    [[nodiscard]] bool wants_block(std::uint32_t block) const noexcept override;
    [[nodiscard]] const check::CheckOptions& options() const noexcept override { return options_.check; }
    [[nodiscard]] check::FindingSink& sink() noexcept override { return report_; }
    [[nodiscard]] bool launch_ended(const CheckedLaunch& launch,
                                    std::vector<check::TouchedRange> touched) noexcept override;
    void not_checked(std::string_view kernel, std::string_view reason) noexcept override;
    [[nodiscard]] Expected<std::vector<std::byte>> checking_code(const std::string& text,
                                                                 std::string_view kernel) override;
    [[nodiscard]] std::string origin(unsigned device, std::uint64_t address) const noexcept override;

private:
    struct Kernel {
        std::uint64_t launches = 0;  // that were to be checked
        std::uint64_t unchecked = 0;
        std::string reason;
        bool chosen = true;  // by its name
    };

    ProcessCheck(const check::Options& options, bool quiet, std::vector<std::string>& problems);
    void keep();
    static void at_exit(int status, void* check);
    void finish() noexcept;
    void show_progress();
    void begin_in_child() CANOPY_NO_THREAD_SAFETY_ANALYSIS;
    [[nodiscard]] check::Summary launches() const;

    const check::Options options_;
    check::Report report_;
    std::atomic<const CheckHooks*> hooks_;
    std::atomic<std::uint32_t> parts_{1};  // that are checked now
    bool whole_ = true;                    // the process is one part
    std::atomic<bool> stopped_{false};
    const bool shows_progress_;
    const Nanoseconds began_;
    std::atomic<Nanoseconds> next_progress_{10 * second};  // after the beginning
    mutable Mutex mutex_;
    std::unordered_map<std::string, Kernel> kernels_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
