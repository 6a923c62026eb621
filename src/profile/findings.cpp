// SPDX-License-Identifier: Apache-2.0
#include "profile/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace canopy::profile {

std::string time_text(double nanoseconds) {
    if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
    const char* unit = "us";
    double value = nanoseconds / 1e3;
    if (value >= 1e6) {
        value /= 1e6;
        unit = "s";
    } else if (value >= 1e3) {
        value /= 1e3;
        unit = "ms";
    }
    return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

std::string bytes_text(double bytes) {
    if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
    const char* unit = "kB";
    double value = bytes / 1e3;
    for (const char* next : {"MB", "GB", "TB"}) {
        if (value < 1e3) break;
        value /= 1e3;
        unit = next;
    }
    return fmt::format("{:.{}f} {}", value, value < 100 ? 1 : 0, unit);
}

namespace {

using Balance = std::unordered_map<std::uint32_t, KernelBalance>;

constexpr double least_share = 0.05;  // of the time of the profile, for a finding to be worth reading

double percent(double part, double whole) noexcept { return whole > 0 ? 100 * part / whole : 0; }

std::string times(std::uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool waits_for_device(std::string_view function) noexcept {
    return function.find("Synchronize") != std::string_view::npos;
}

// Writes the findings of one summary.
class Finder {
public:
    Finder(const Summary& summary, const Balance& balance, double rate) : s_(summary), balance_(balance), rate_(rate) {
        for (const DeviceSummary& device : s_.devices) {
            cores_ = std::max(cores_, device.cores);
            workers_ = std::max(workers_, device.workers);
            device_busy_ = std::max(device_busy_, device.busy);
        }
    }
    std::vector<Finding> run() {
        if (s_.time <= 0) return {};
        waits();
        few_blocks();
        host_bound();
        small_kernels();
        synchronisations();
        copies();
        imbalance();
        failures();
        recording();
        std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.stake > b.stake; });
        if (found_.size() > most_findings) found_.resize(most_findings);
        return std::move(found_);
    }

private:
    void add(Finding::About about, double stake, std::optional<Place> place, std::string text) {
        found_.push_back({about, std::move(text), stake, place});
    }
    [[nodiscard]] bool matters(double time) const noexcept { return time >= least_share * s_.time; }
    void waits();
    void few_blocks();
    void host_bound();
    void small_kernels();
    void synchronisations();
    void copies();
    void imbalance();
    void failures();
    void recording();

    const Summary& s_;
    const Balance& balance_;
    double rate_;
    std::uint32_t cores_ = 0, workers_ = 0;
    double device_busy_ = 0;
    std::vector<Finding> found_;
};

void Finder::waits() {
    for (const StreamSummary& stream : s_.streams)
        for (const WaitSummary& wait : stream.waits) {
            if (!matters(wait.time)) break;
            std::string what;
            if (wait.released_by == by_the_host)
                what = "the host";
            else if (wait.released_by == by_a_write)
                what = "a value in memory";
            else if (wait.work.empty())
                what = fmt::format("stream {}", wait.released_by);
            else if (wait.work_is_copy)
                what = fmt::format("the copy ({}) on stream {}", wait.work, wait.released_by);
            else
                what = fmt::format("`{}` on stream {}", wait.work, wait.released_by);
            add(Finding::About::waiting_stream, wait.time, wait.longest,
                fmt::format("Stream {} waited {:.0f} % of the time for {} ({}, {}).", stream.number,
                            percent(wait.time, s_.time), what, time_text(wait.time), times(wait.count)));
        }
}

void Finder::few_blocks() {
    const std::uint32_t at_once = workers_ > 0 ? workers_ : cores_;
    if (at_once < 2) return;
    for (const KernelSummary& kernel : s_.kernels) {
        if (kernel.cpu_kernel || kernel.runs.count == 0 || !matters(kernel.runs.total)) continue;
        const double blocks = static_cast<double>(kernel.blocks) / static_cast<double>(kernel.runs.count);
        if (blocks < 1 || blocks >= at_once) continue;
        const std::string each = kernel.most_blocks == 1 ? "one block"
                                 : kernel.least_blocks == kernel.most_blocks
                                     ? plural(kernel.most_blocks, "block")
                                     : fmt::format("{:.1f} blocks on average", blocks);
        const std::string launches =
            kernel.runs.count == 1 ? "1 launch" : fmt::format("{} launches", kernel.runs.count);
        std::string text = fmt::format("{} of `{}` with {}{}: {:.3g} of {} cores busy", launches, kernel.name, each,
                                       kernel.runs.count == 1 ? "" : " each", blocks, cores_ > 0 ? cores_ : at_once);
        if (workers_ > 0) text += fmt::format(", {:.3g} of {} threads that run them", blocks, workers_);
        add(Finding::About::few_blocks, kernel.runs.total * (1 - blocks / at_once), kernel.longest,
            fmt::format("{}, for {}.", text, time_text(kernel.runs.total)));
    }
}

void Finder::host_bound() {
    if (s_.tasks == 0) return;
    const double idle = s_.time - device_busy_;
    if (idle < 0.3 * s_.time) return;
    const CallSummary* most = nullptr;
    for (const CallSummary& call : s_.calls)
        if (!waits_for_device(call.name) && (most == nullptr || call.device_idle > most->device_idle)) most = &call;
    if (s_.calls.empty()) {
        add(Finding::About::host_bound, idle, std::nullopt,
            fmt::format("The device was idle {:.0f} % of the time ({}).", percent(idle, s_.time), time_text(idle)));
    } else if (most != nullptr && most->device_idle >= 0.25 * idle) {
        add(Finding::About::host_bound, most->device_idle, most->longest,
            fmt::format(
                "Host bound: the device was idle {:.0f} % of the time ({}), {} of it while the host was in {} ({}).",
                percent(idle, s_.time), time_text(idle), time_text(most->device_idle), most->name,
                plural(most->runs.count, "call")));
    } else {
        add(Finding::About::host_bound, idle, std::nullopt,
            fmt::format(
                "Host bound: the device was idle {:.0f} % of the time ({}), mostly while the program ran code of its "
                "own.",
                percent(idle, s_.time), time_text(idle)));
    }
}

void Finder::small_kernels() {
    const CallSummary* launch = nullptr;
    for (const CallSummary& call : s_.calls)
        if (call.name.find("Launch") != std::string::npos &&
            (launch == nullptr || call.runs.total > launch->runs.total))
            launch = &call;
    if (launch == nullptr || launch->runs.count < 100 || !matters(launch->runs.total)) return;
    double time = 0, weight = 0;
    std::uint64_t runs = 0;
    for (const KernelSummary& kernel : s_.kernels) {
        const std::uint64_t alone = kernel.runs.count - kernel.in_graphs;
        runs += alone;
        time += kernel.runs.median * static_cast<double>(alone);
        weight += static_cast<double>(alone);
    }
    if (runs < 100) return;
    const double median = time / weight;
    const double each = launch->runs.average();
    if (median > 4 * each) return;
    add(Finding::About::small_kernels, launch->runs.total, launch->longest,
        fmt::format(
            "Small kernels: {} launches of about {} each, and the host needs {} to launch one ({} in total). Capture "
            "them into a graph, or do more in each.",
            runs, time_text(median), time_text(each), time_text(launch->runs.total)));
}

void Finder::synchronisations() {
    std::uint64_t count = 0, launches = 0;
    double waited = 0, idle = 0;
    const CallSummary* most = nullptr;
    for (const CallSummary& call : s_.calls) {
        if (!waits_for_device(call.name)) continue;
        count += call.runs.count;
        waited += call.runs.total;
        idle += call.device_idle;
        if (most == nullptr || call.runs.count > most->runs.count) most = &call;
    }
    for (const KernelSummary& kernel : s_.kernels) launches += kernel.runs.count - kernel.in_graphs;
    if (count < 16 || launches == 0 || launches > 3 * count || !matters(waited)) return;
    add(Finding::About::synchronisations, std::max(idle, 0.25 * waited), most->longest,
        fmt::format(
            "{} synchronisations between {} launches: the host waited {} in them, mostly in {}. Work that is submitted "
            "ahead keeps the device busy.",
            count, launches, time_text(waited), most->name));
}

void Finder::copies() {
    for (const CopySummary& copy : s_.copies) {
        const double average =
            static_cast<double>(copy.bytes) / static_cast<double>(std::max<std::uint64_t>(1, copy.runs.count));
        if (copy.runs.count >= 64 && average < 4096 && matters(copy.runs.total)) {
            add(Finding::About::slow_copies, copy.runs.total, std::nullopt,
                fmt::format("{} copies ({}) of {} on average took {}: joining them saves most of it.", copy.runs.count,
                            copy_word(copy.kind), bytes_text(average), time_text(copy.runs.total)));
        } else if (copy.runs.total >= 0.25 * s_.time) {
            add(Finding::About::slow_copies, copy.runs.total, std::nullopt,
                fmt::format("Copies ({}) took {:.0f} % of the time: {} at {:.3g} GB/s.", copy_word(copy.kind),
                            percent(copy.runs.total, s_.time), bytes_text(static_cast<double>(copy.bytes)),
                            copy.bandwidth()));
        }
    }
}

void Finder::imbalance() {
    for (const KernelSummary& kernel : s_.kernels) {
        const auto found = balance_.find(kernel.name_number);
        if (found == balance_.end()) continue;
        const KernelBalance& balance = found->second;
        const double lost = std::min(balance.lost * rate_, kernel.runs.total);
        if (balance.worst_ratio < 2 || balance.worst_blocks > kernel.most_blocks || lost < 0.02 * s_.time) continue;
        add(Finding::About::imbalance, lost, balance.worst,
            fmt::format(
                "Load imbalance: the slowest of {} blocks of `{}` took {}, {:.1f} x the average; with even blocks its "
                "launches would take {} less.",
                balance.worst_blocks, kernel.name, time_text(static_cast<double>(balance.worst_longest) * rate_),
                balance.worst_ratio, time_text(lost)));
    }
}

void Finder::failures() {
    std::uint64_t failed = 0;
    const KernelSummary* first = nullptr;
    for (const KernelSummary& kernel : s_.kernels) {
        failed += kernel.failed;
        if (first == nullptr && kernel.failed > 0) first = &kernel;
    }
    if (first != nullptr)
        add(Finding::About::failures, s_.time, std::nullopt,
            fmt::format("{} failed, `{}` {}.", failed == 1 ? "A launch" : fmt::format("{} launches", failed),
                        first->name, times(first->failed)));
}

void Finder::recording() {
    if (s_.lost > 0)
        add(Finding::About::lost_records,
            s_.time * static_cast<double>(s_.lost) / static_cast<double>(s_.lost + s_.records), std::nullopt,
            fmt::format(
                "{} records were lost beside {} that were kept: all figures are too small. Record less (--want).",
                s_.lost, s_.records));
    if (s_.cost_share >= 0.02)
        add(Finding::About::recording, s_.cost_of_a_record * static_cast<double>(s_.records), std::nullopt,
            fmt::format("Recording took about {:.1f} % of the time of the threads: {} records of {:.0f} ns.",
                        100 * s_.cost_share, s_.records, s_.cost_of_a_record));
}

}  // namespace

std::vector<Finding> findings_of(const Summary& summary, const Balance& balance, double nanoseconds_per_tick) {
    return Finder(summary, balance, nanoseconds_per_tick).run();
}

}  // namespace canopy::profile
