// SPDX-License-Identifier: Apache-2.0
// The findings of a process: equal ones are joined, suppressed ones dropped, and new ones printed and written when the
// user of this class says so. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/finding.h"
#include "check/report/format.h"
#include "check/report/options.h"
#include "check/report/suppressions.h"
#include "foundation/mutex.h"

namespace canopy::check {

class Report final : public FindingSink {
public:
    using Print = std::function<void(std::string_view)>;

    // `problems` receives what is wrong with files.
    Report(const Options& options, std::int64_t process, Print print, bool colours, std::vector<std::string>& problems);

    void add(Finding finding) override;
    // Prints and writes what is new.
    void tell();
    // Adds the numbers of findings to those of launches, prints the summary, and completes the files.
    void finish(Summary launches);

    // Whether an error was found in a kernel of that name.
    [[nodiscard]] bool has_error_in(std::string_view name) const;
    [[nodiscard]] std::uint64_t errors() const;
    // Grows with each finding, whether it is a new one or not.
    [[nodiscard]] std::uint64_t position() const;
    // What was found since then, as lines of JSON.
    [[nodiscard]] std::vector<Json> lines_since(std::uint64_t position) const;

    // Of a child made by fork, which begins with none: between the two the calling thread alone uses the report.
    void before_fork() CANOPY_NO_THREAD_SAFETY_ANALYSIS;
    void after_fork() CANOPY_NO_THREAD_SAFETY_ANALYSIS;
    void forget(std::int64_t process) CANOPY_NO_THREAD_SAFETY_ANALYSIS;

private:
    struct Entry {
        Joined joined;
        std::string key;
        bool told = false;
        bool suppressed = false;
        std::uint64_t last = 0;  // position of the last one that was added
    };
    using Entries = std::unordered_map<std::string, Entry>;

    [[nodiscard]] bool ignored(const Finding& finding) const CANOPY_REQUIRES(mutex_);
    void print_new(const std::vector<const Entry*>& fresh) CANOPY_REQUIRES(mutex_);
    void write_new(const std::vector<const Entry*>& fresh) CANOPY_REQUIRES(mutex_);
    void write_all(const Summary& summary) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] std::string json_lines(const std::vector<const Entry*>& entries) const CANOPY_REQUIRES(mutex_);
    [[nodiscard]] std::vector<Json> json_of_all() const CANOPY_REQUIRES(mutex_);
    [[nodiscard]] std::uint64_t count(Level level) const CANOPY_REQUIRES(mutex_);
    void complain(const Problem& problem) CANOPY_REQUIRES(mutex_);

    const Classes classes_;
    const ReportOptions options_;
    const Print print_;
    const bool colours_;
    mutable Mutex mutex_;
    std::int64_t process_ CANOPY_GUARDED_BY(mutex_);
    Suppressions suppressions_ CANOPY_GUARDED_BY(mutex_);
    Entries entries_ CANOPY_GUARDED_BY(mutex_);
    std::vector<const Entry*> order_ CANOPY_GUARDED_BY(mutex_);  // of their first appearance, without suppressed ones
    std::vector<Entry*> fresh_ CANOPY_GUARDED_BY(mutex_);        // not told yet
    std::uint64_t position_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::size_t printed_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t suppressed_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint64_t dropped_ CANOPY_GUARDED_BY(mutex_) = 0;  // had no room
    std::string last_complaint_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::check
