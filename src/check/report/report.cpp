// SPDX-License-Identifier: Apache-2.0
#include "check/report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "check/report/findings_file.h"
#include "foundation/files.h"
#include "foundation/readable_name.h"

namespace canopy::check {

namespace {

constexpr std::size_t most_printed = 100;
constexpr std::size_t most_kept = 1u << 16;

// Findings with the same key are one. Texts sort by it: kernels, then ids, then lines.
std::string key_of(const Finding& finding) {
    std::string key = fmt::format("{}\n{}\n{}", finding.kernel, finding.id, finding.memory);
    for (const Place& place : finding.places) {
        key += fmt::format("\n{}:{:08}", place.file, place.line);
        // Places without a line differ by what they do.
        if (place.file.empty()) key += fmt::format(" {} {}", place.operation, place.operand);
    }
    return key;
}

// Which of two equal findings is shown does not depend on the order of threads.
bool is_earlier(const Finding& one, const Finding& other) {
    const auto by_core = [](const Place& left, const Place& right) {
        return std::tie(left.block, left.core, left.number, left.address) <
               std::tie(right.block, right.core, right.number, right.address);
    };
    return std::lexicographical_compare(one.places.begin(), one.places.end(), other.places.begin(), other.places.end(),
                                        by_core);
}

void add_blocks(Joined& joined, const Finding& finding) {
    for (const Place& place : finding.places)
        if (place.block >= 0) joined.blocks.add(static_cast<std::uint32_t>(place.block));
}

}  // namespace

Report::Report(const Options& options, std::int64_t process, Print print, bool colours,
               std::vector<std::string>& problems)
    : classes_(options.check.classes),
      options_(options.report),
      print_(std::move(print)),
      colours_(colours),
      process_(process) {
    MutexLock lock(mutex_);
    for (const std::string& path : options_.suppress) suppressions_.read(path, problems);
    for (const std::string* path : {&options_.json, &options_.write_suppressions})
        if (!path->empty())
            if (Problem problem = append_lines(*path, {})) problems.push_back(problem.message());
}

bool Report::ignored(const Finding& finding) const {
    bool inside = false;
    for (const Place& place : finding.places) {
        if (place.file.empty()) continue;
        const auto fits_place = [&](const std::string& pattern) { return fits_file(pattern, place.file); };
        if (std::none_of(options_.ignored.begin(), options_.ignored.end(), fits_place)) return false;
        inside = true;
    }
    return inside;
}

void Report::add(Finding finding) {
    if (!wants(classes_, finding.id)) return;
    if (options_.strict && finding.level == Level::warning) finding.level = Level::error;
    finding.kernel = short_name(finding.kernel);
    std::string key = key_of(finding);
    MutexLock lock(mutex_);
    ++position_;
    if (const auto found = entries_.find(key); found != entries_.end()) {
        found->second.last = position_;
        Joined& joined = found->second.joined;
        add_blocks(joined, finding);
        const std::uint64_t count = joined.finding.count + finding.count;
        const Level level = std::min(joined.finding.level, finding.level);
        if (!found->second.told && is_earlier(finding, joined.finding)) joined.finding = std::move(finding);
        joined.finding.count = count;
        joined.finding.level = level;
        return;
    }
    if (ignored(finding)) return;
    if (entries_.size() == most_kept) {
        ++dropped_;
        return;
    }
    Entry& entry = entries_.try_emplace(key).first->second;
    entry.key = std::move(key);
    entry.last = position_;
    entry.suppressed = suppressions_.cover(finding);
    add_blocks(entry.joined, finding);
    entry.joined.finding = std::move(finding);
    if (entry.suppressed) {
        ++suppressed_;
        return;
    }
    order_.push_back(&entry);
    fresh_.push_back(&entry);
}

void Report::tell() {
    MutexLock lock(mutex_);
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end(), [](const Entry* left, const Entry* right) {
        return std::tie(left->joined.finding.level, left->key) < std::tie(right->joined.finding.level, right->key);
    });
    for (Entry* entry : fresh_) entry->told = true;
    const std::vector<const Entry*> fresh(fresh_.begin(), fresh_.end());
    fresh_.clear();
    print_new(fresh);
    write_new(fresh);
}

void Report::print_new(const std::vector<const Entry*>& fresh) {
    std::string text;
    for (const Entry* entry : fresh) {
        if (entry->joined.finding.level == Level::note && !options_.notes) continue;
        if (printed_ == most_printed) {
            ++printed_;
            text += fmt::format("canopy check: further findings are counted, and not printed{}\n",
                                options_.json.empty() ? "; --json FILE writes all of them" : "");
        }
        if (printed_ > most_printed) break;
        text += text_of(entry->joined, {.colours = colours_, .twin_names = options_.twin_names});
        ++printed_;
    }
    if (!text.empty()) print_(text);
}

std::string Report::json_lines(const std::vector<const Entry*>& entries) const {
    std::string lines;
    for (const Entry* entry : entries) lines += json_of(entry->joined, process_, options_.twin_names).dump() + '\n';
    return lines;
}

std::vector<Json> Report::json_of_all() const {
    std::vector<Json> lines;
    for (const Entry* entry : order_) lines.push_back(json_of(entry->joined, process_, options_.twin_names));
    return lines;
}

void Report::write_new(const std::vector<const Entry*>& fresh) {
    if (!options_.json.empty()) complain(append_lines(options_.json, json_lines(fresh)));
    if (!options_.write_suppressions.empty()) {
        std::string lines;
        for (const Entry* entry : fresh)
            if (entry->joined.finding.level != Level::note) lines += suppression_of(entry->joined.finding) + '\n';
        complain(append_missing_lines(options_.write_suppressions, lines));
    }
    if (!options_.sarif.empty() && !write_file(options_.sarif, sarif_of(json_of_all())))
        complain({options_.sarif, " cannot be written: ", std::strerror(errno)});
}

void Report::write_all(const Summary& summary) {
    if (!options_.json.empty()) {
        const std::string end = json_of(summary, process_).dump() + '\n';
        complain(replace_lines(options_.json, line_start(process_), json_lines(order_) + end, end));
    }
    if (!options_.sarif.empty() && !write_file(options_.sarif, sarif_of(json_of_all())))
        complain({options_.sarif, " cannot be written: ", std::strerror(errno)});
}

// Once for each problem, which stays when the disk is full.
void Report::complain(const Problem& problem) {
    if (!problem || problem.message() == last_complaint_) return;
    last_complaint_ = problem.message();
    print_(fmt::format("canopy check: {}\n", last_complaint_));
}

std::uint64_t Report::count(Level level) const {
    return static_cast<std::uint64_t>(std::count_if(
        order_.begin(), order_.end(), [&](const Entry* entry) { return entry->joined.finding.level == level; }));
}

void Report::finish(Summary summary) {
    tell();
    MutexLock lock(mutex_);
    summary.errors = count(Level::error);
    summary.warnings = count(Level::warning);
    summary.notes = count(Level::note);
    summary.suppressed = suppressed_;
    summary.unused_suppressions = suppressions_.unused();
    if (dropped_ > 0)
        print_(fmt::format("canopy check: {} findings are kept; {} others are not counted\n", most_kept, dropped_));
    print_(text_of(summary));
    write_all(summary);
}

bool Report::has_error_in(std::string_view name) const {
    const std::string kernel = short_name(std::string(name));
    MutexLock lock(mutex_);
    return std::any_of(order_.begin(), order_.end(), [&](const Entry* entry) {
        return entry->joined.finding.level == Level::error && entry->joined.finding.kernel == kernel;
    });
}

std::uint64_t Report::errors() const {
    MutexLock lock(mutex_);
    return count(Level::error);
}

std::uint64_t Report::position() const {
    MutexLock lock(mutex_);
    return position_;
}

std::vector<Json> Report::lines_since(std::uint64_t position) const {
    MutexLock lock(mutex_);
    std::vector<Json> lines;
    for (const Entry* entry : order_)
        if (entry->last > position) lines.push_back(json_of(entry->joined, process_, options_.twin_names));
    return lines;
}

void Report::before_fork() { mutex_.lock(); }

void Report::after_fork() { mutex_.unlock(); }

void Report::forget(std::int64_t process) {
    process_ = process;
    entries_.clear();
    order_.clear();
    fresh_.clear();
    printed_ = 0;
    position_ = suppressed_ = dropped_ = 0;
    after_fork();
}

}  // namespace canopy::check
