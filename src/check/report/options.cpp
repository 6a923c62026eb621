// SPDX-License-Identifier: Apache-2.0
#include "check/report/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>

namespace canopy::check {

namespace {

template <class Number>
Problem read_number(std::string_view name, std::string_view text, Number most, Number& number) {
    Number read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || read < 0 || read > most)
        return {name, ": ", text, " is not a number from 0 to ", most};
    number = read;
    return {};
}

template <class Number>
Problem read_number(std::string_view name, std::string_view text, Number most, std::optional<Number>& number) {
    Number read = 0;
    Problem problem = read_number(name, text, most, read);
    if (!problem) number = read;
    return problem;
}

// The program may change its folder later.
Problem read_file_name(std::string_view name, std::string_view text, std::string& path) {
    if (text.empty()) return {name, ": the name of a file is missing"};
    std::error_code error;
    path = std::filesystem::absolute(text, error).string();
    return error ? Problem{name, ": ", error.message()} : Problem();
}

// Adds the parts of a list with commas.
Problem read_list(std::string_view name, std::string_view text, std::vector<std::string>& list) {
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (comma == 0) return {name, ": a part of the list is empty"};
        list.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return list.empty() ? Problem{name, ": a value is missing"} : Problem();
}

Problem wrong_choice(std::string_view name, std::string_view text, std::string_view choices) {
    return {name, ": ", text, " is not ", choices};
}

struct Entry {
    OptionName about;
    Problem (*set)(Options& options, std::string_view name, std::string_view value);
};

template <auto member>
Problem set_report_flag(Options& options, std::string_view, std::string_view) {
    options.report.*member = true;
    return {};
}

template <auto member>
Problem set_check_flag(Options& options, std::string_view, std::string_view) {
    options.check.*member = true;
    return {};
}

template <auto member>
Problem set_class(Options& options, std::string_view, std::string_view) {
    options.check.classes.*member = true;
    return {};
}

template <auto member>
Problem set_file(Options& options, std::string_view name, std::string_view value) {
    return read_file_name(name, value, options.report.*member);
}

template <auto member>
Problem set_list(Options& options, std::string_view name, std::string_view value) {
    return read_list(name, value, options.report.*member);
}

Problem set_suppress(Options& options, std::string_view name, std::string_view value) {
    std::vector<std::string> files;
    if (Problem problem = read_list(name, value, files)) return problem;
    for (std::string& file : files) {
        if (Problem problem = read_file_name(name, std::string(file), file)) return problem;
        options.report.suppress.push_back(file);
    }
    return {};
}

Problem set_autosync(Options& options, std::string_view name, std::string_view value) {
    if (value != "on" && value != "off") return wrong_choice(name, value, "on or off");
    options.check.autosync = value == "on";
    return {};
}

Problem set_data_barrier(Options& options, std::string_view name, std::string_view value) {
    if (value != "all" && value != "scalar") return wrong_choice(name, value, "all or scalar");
    options.check.data_barrier_all = value == "all";
    return {};
}

Problem set_names(Options& options, std::string_view name, std::string_view value) {
    if (value != "twin" && value != "own") return wrong_choice(name, value, "twin or own");
    options.report.twin_names = value == "twin";
    return {};
}

Problem set_exit_code(Options& options, std::string_view name, std::string_view value) {
    return read_number(name, value, 255, options.report.exit_code);
}

Problem set_block(Options& options, std::string_view name, std::string_view value) {
    return read_number(name, value, std::uint32_t{UINT32_MAX}, options.report.block);
}

Problem set_first(Options& options, std::string_view name, std::string_view value) {
    return read_number(name, value, std::uint64_t{UINT64_MAX}, options.report.first);
}

Problem set_without(Options& options, std::string_view name, std::string_view value) {
    return read_number(name, value, std::uint64_t{UINT64_MAX}, options.check.without);
}

constexpr std::array entries = {
    Entry{{"--json", "FILE", "Write all findings as JSON, one a line, and a summary"}, set_file<&ReportOptions::json>},
    Entry{{"--sarif", "FILE", "Write all findings in SARIF, which code hosts show"}, set_file<&ReportOptions::sarif>},
    Entry{{"--exit-code", "N", "Exit status if there are errors and the program returned 0 (default: 66)"},
          set_exit_code},
    Entry{{"--strict", "", "Make warnings errors"}, set_report_flag<&ReportOptions::strict>},
    Entry{{"--notes", "", "Print notes, which are only counted otherwise"}, set_report_flag<&ReportOptions::notes>},
    Entry{{"--stop", "", "Fail the task that has the first error, so that the program stops there"},
          set_report_flag<&ReportOptions::stop>},
    Entry{{"--kernel", "PATTERNS", "Check inside these kernels only: names with * and ?, separated by commas"},
          set_list<&ReportOptions::kernels>},
    Entry{{"--block", "N", "Check inside this block of each launch only"}, set_block},
    Entry{{"--first", "N", "Check inside the first N launches of each kernel only"}, set_first},
    Entry{{"--ignore", "PATTERNS", "Drop findings that lie in these files only, like */third_party/*"},
          set_list<&ReportOptions::ignored>},
    Entry{{"--suppress", "FILES", "Drop findings that these files list"}, set_suppress},
    Entry{{"--write-suppressions", "FILE", "Add a line to this file for each error and warning"},
          set_file<&ReportOptions::write_suppressions>},
    Entry{{"--names", "own|twin", "twin: print the names that the CPU twin has for findings, too"}, set_names},
    Entry{{"--autosync", "on|off", "As if kernels were compiled with, or without, automatic synchronisation"},
          set_autosync},
    Entry{{"--portable", "", "Do not count on order that library calls happen to give"},
          set_check_flag<&CheckOptions::portable>},
    Entry{{"--strict-ids", "", "Flags of one source pipe and id are one flag, whatever their target"},
          set_check_flag<&CheckOptions::strict_ids>},
    Entry{{"--dsb", "scalar|all", "all: DataSyncBarrier orders other pipes than the scalar unit as well"},
          set_data_barrier},
    Entry{{"--leaks", "", "Report memory, streams and events that are left at aclFinalize"},
          set_class<&Classes::leaks>},
    Entry{{"--without", "N", "Leave out the N-th flag, barrier or queue event, to see whether something needs it"},
          set_without},
    Entry{{"--trace", "FILE", "Write what kernels tell the checker, a line an event (large)"},
          set_file<&ReportOptions::trace>},
};

constexpr auto names = [] {
    std::array<OptionName, entries.size()> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = entries[i].about;
    return list;
}();

// The next word of a shell's line; false at the end. `open` is set if a quote is not closed.
bool next_word(std::string_view& text, std::string& word, bool& open) {
    constexpr std::string_view blanks = " \t\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return false;
    word.clear();
    char quote = 0;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const char letter = text[at];
        if (quote == 0 && blanks.find(letter) != std::string_view::npos) break;
        if (letter == '\\' && quote != '\'' && at + 1 < text.size())
            word += text[++at];
        else if (quote == 0 && (letter == '\'' || letter == '"'))
            quote = letter;
        else if (letter == quote && quote != 0)
            quote = 0;
        else
            word += letter;
    }
    text.remove_prefix(at);
    open = quote != 0;
    return true;
}

const Entry* find_entry(std::string_view name) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.about.name == name; });
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::span<const OptionName> option_names() noexcept { return names; }

Problem set_option(Options& options, std::string_view name, std::string_view value) {
    const Entry* const entry = find_entry(name);
    return entry ? entry->set(options, name, value) : Problem{name, " is not an option of canopy check"};
}

void read_options(std::string_view text, Options& options, std::vector<std::string>& problems) {
    std::string word, value;
    bool open = false;
    std::set<std::string, std::less<>> given;
    while (next_word(text, word, open)) {
        const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
        const std::string name = word.substr(0, equals);
        const Entry* const entry = find_entry(name);
        Problem problem;
        if (!entry) {
            problem = {name, " is not an option of canopy check"};
        } else if (!given.insert(name).second) {
            problem = {name, " is given twice"};
        } else if (entry->about.value.empty()) {
            problem =
                equals == std::string::npos ? entry->set(options, name, {}) : Problem{name, " does not take a value"};
        } else if (equals != std::string::npos) {
            problem = entry->set(options, name, std::string_view(word).substr(equals + 1));
        } else if (next_word(text, value, open)) {
            problem = entry->set(options, name, value);
        } else {
            problem = {name, " requires a value"};
        }
        if (open) problem = {"a quote is not closed"};
        if (problem) problems.push_back(problem.message());
    }
}

std::string quoted(std::string_view word) {
    std::string text = "'";
    for (const char letter : word) {
        if (letter == '\'')
            text += "'\\''";
        else
            text += letter;
    }
    return text + '\'';
}

}  // namespace canopy::check
