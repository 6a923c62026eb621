// SPDX-License-Identifier: Apache-2.0
// The command-line tool `canopy`. Of the runtime it uses the public interface only; `canopy replay` alone opens a
// device.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "../command_line.h"
#include "check.h"
#include "check/report/options.h"
#include "doctor/doctor.h"
#include "dump.h"
#include "info.h"
#include "link_default.h"
#include "profile/commands.h"
#include "profile/formats.h"
#include "profile/msprof.h"
#include "replay.h"
#include "top/top.h"

namespace {

using canopy_tool::CommandLine;
using canopy_tool::Option;
using Arguments = std::vector<std::string>;

int run_info(const CommandLine& about, const Arguments& arguments) {
    bool as_json = false;
    CommandLine line = about;
    line.options = {{"--json", "Print JSON instead of text", &as_json}};
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    return as_json ? canopy_tool::print_json(std::cout) : canopy_tool::print_text(std::cout);
}

int run_link_default(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::LinkDefaultOptions links;
    CommandLine line = about;
    line.options = {{"--prefix", "The folder to create them in (default: ~/Ascend)", nullptr, &links.prefix},
                    {"--system", "Create them in /usr/local/Ascend; not with --prefix", &links.system},
                    {"--remove", "Remove the links into this tree", &links.remove},
                    {"--yes", "Do not ask", &links.yes},
                    {"--dry-run", "Only show what would be done", &links.dry_run}};
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    if (links.system && !links.prefix.empty()) {
        std::cerr << "canopy link-default: --system excludes --prefix\nRun with --help for more information.\n";
        return 2;
    }
    return canopy_tool::link_default(links);
}

int run_doctor(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::DoctorOptions examination;
    CommandLine line = about;
    line.operand = "path";
    line.operand_meaning = "Folders and files to check";
    line.operands = &examination.paths;
    line.options = {
        {"--tree", "Install tree to compare with (default: the tree of this command)", nullptr, &examination.tree},
        {"--json", "Print JSON instead of text", &examination.json},
        {"--quiet", "Print errors only, no warnings and hints", &examination.quiet}};
    line.footer = "Exit status: 0 without errors, 1 with errors, 2 on wrong usage.";
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    return canopy_tool::run_doctor(examination, std::cout, std::cerr);
}

int run_profile(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::ProfileOptions profile;
    const std::string formats =
        fmt::format("What to write: a list of {} (default: html,json.gz,prof)", canopy_tool::format_words);
    CommandLine line = about;
    line.operand = "program";
    line.operand_meaning = "The program and its arguments";
    line.operands = &profile.command;
    line.operands_end_options = true;
    line.options = {
        {"--output", "A folder (default: a new one here), or one file: its ending says its format", nullptr,
         &profile.output, "-o"},
        {"--format", formats, nullptr, &profile.formats},
        {"--want",
         "What to record: a list of calls, tasks, nodes, blocks, memory, marks, steps, idle (default: everything)",
         nullptr, &profile.want},
        {"--quiet", "Print problems only", &profile.quiet, nullptr, "-q"}};
    line.footer =
        "Exit status: that of the program; 125, 126 or 127 if it was not started, 1 if it returned 0 and a file could "
        "not be written.";
    if (const int status = read_or_explain(line, arguments); status >= 0) return status == 2 ? 125 : status;
    return canopy_tool::profile_program(profile);
}

int run_check(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::CheckedProgram program;
    const auto names = canopy::check::option_names();
    std::vector<std::string> values(names.size());
    const auto flags = std::make_unique<bool[]>(names.size());
    CommandLine line = about;
    line.operand = "program";
    line.operand_meaning = "The program and its arguments";
    line.operands = &program.command;
    line.operands_end_options = true;
    line.options = {{"--classes",
                     "What to find: a list of race, cache, memory, init, sync, host, or all; -NAME leaves one out "
                     "(default: all)",
                     nullptr, &program.classes, "-c"}};
    for (std::size_t i = 0; i < names.size(); ++i)
        line.options.push_back({.name = std::string(names[i].name),
                                .meaning = std::string(names[i].meaning),
                                .flag = names[i].value.empty() ? &flags[i] : nullptr,
                                .value = names[i].value.empty() ? nullptr : &values[i],
                                .value_name = std::string(names[i].value)});
    line.footer =
        "Exit status: that of the program; if that is 0 and there are errors, 66. 125, 126 or 127 if it was not "
        "started.";
    if (const int status = read_or_explain(line, arguments); status >= 0)
        return status == 2 ? canopy_tool::check_not_started : status;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (flags[i] || !values[i].empty()) program.options.emplace_back(names[i].name, values[i]);
    return canopy_tool::check_program(program);
}

int run_stats(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::StatsOptions stats;
    CommandLine line = about;
    line.operand = "profile";
    line.operand_meaning = "Profiles (.canopyprof), or folders that hold one";
    line.operands = &stats.paths;
    line.in_place_of_operands = &stats.last;
    line.options = {{"--json", "Print JSON instead of text", &stats.json},
                    {"--all", "Print all rows of the tables, not the first ten", &stats.all_rows},
                    {"--last", "What the process that was killed last left, with CANOPY_BLACKBOX=1", &stats.last}};
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    return canopy_tool::print_stats(stats);
}

int run_export(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::ExportOptions exported;
    const std::string formats =
        fmt::format("What to write: a list of {} (default: html,json.gz,csv)", canopy_tool::format_words);
    CommandLine line = about;
    line.operand = "profile";
    line.operand_meaning = "A profile (.canopyprof), or a folder that holds one";
    line.operands = &exported.paths;
    line.in_place_of_operands = &exported.last;
    line.one_operand = true;
    line.options = {{"--output", "A folder (default: that of the profile), or one file: its ending says its format",
                     nullptr, &exported.output, "-o"},
                    {"--format", formats, nullptr, &exported.formats},
                    {"--last", "What the process that was killed last left, with CANOPY_BLACKBOX=1", &exported.last}};
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    return canopy_tool::export_profile(exported);
}

int run_msprof(const CommandLine&, const Arguments& arguments) { return canopy_tool::run_msprof(arguments); }

// False if the text is not all of a number.
template <class Number>
bool read_number(const std::string& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

int run_top(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::TopOptions options;
    std::string process, interval;
    CommandLine line = about;
    line.options = {{"--pid", "Only this process", nullptr, &process, "-p"},
                    {"--once", "Print the figures once and exit", &options.once},
                    {"--json", "Print JSON instead of text, one line each time", &options.json},
                    {"--interval", "Seconds between two looks (default: 0.5)", nullptr, &interval}};
    line.footer = "In a terminal, q quits. Otherwise it prints text once per interval.";
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    std::string problem;
    if (!process.empty() && (!read_number(process, options.process) || options.process <= 0))
        problem = fmt::format("--pid: {} is not the number of a process", process);
    if (!interval.empty() &&
        (!read_number(interval, options.interval) || !(options.interval >= 0.05 && options.interval <= 3600)))
        problem = fmt::format("--interval: {} is not a number of seconds from 0.05 to 3600", interval);
    if (problem.empty()) return canopy_tool::run_top(options);
    std::cerr << "canopy top: " << problem << "\nRun with --help for more information.\n";
    return 2;
}

int run_dump(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::DumpOptions dumps;
    CommandLine line = about;
    line.operand = "file";
    line.operand_meaning = "Dump files";
    line.operands = &dumps.files;
    line.options = {
        {"--npy", "Folder to write the data to, as .npy files", nullptr, &dumps.npy},
        {"--type", "Type of elements whose type is not known, like float16 (default: uint8)", nullptr, &dumps.type},
        {"--json", "Print JSON instead of text", &dumps.json}};
    line.footer = "Exit status: 1 if a file is damaged or cannot be written.";
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    return canopy_tool::show_dumps(dumps, std::cout, std::cerr);
}

int run_replay(const CommandLine& about, const Arguments& arguments) {
    canopy_tool::ReplayOptions block;
    std::vector<std::string> operands;
    CommandLine line = about;
    line.operand = "folder";
    line.operand_meaning = "A folder that CANOPY_DUMP_EXCEPTION left; after --, arguments for gdb";
    line.operands = &operands;
    line.options = {{"--block", "The block to run, or \"all\" (default: the one that failed)", nullptr, &block.block},
                    {"--gdb", "Run it under gdb, which stops in the kernel", &block.gdb},
                    {"--attempt", "For its own use", nullptr, &block.attempt}};
    line.footer =
        "Exit status: 0 if it failed as before or did not fail, 1 if it could not run, 3 if it failed differently.";
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    if (operands.size() > 1 && !block.gdb) {
        std::cerr << "canopy replay: one folder at a time\nRun with --help for more information.\n";
        return 2;
    }
    block.folder = operands.front();
    block.gdb_arguments.assign(operands.begin() + 1, operands.end());
    return canopy_tool::replay(block, std::cout, std::cerr);
}

struct Command {
    const char* name;
    const char* meaning;
    int (*run)(const CommandLine& about, const Arguments& arguments);
};

constexpr Command commands[] = {
    {"info", "Show the devices, their chips and memory, and the settings", run_info},
    {"link-default",
     "Create links to this install tree where scripts look for the toolkit: ~/Ascend/ascend-toolkit/latest, "
     "~/Ascend/cann and others. Asks first; never replaces anything",
     run_link_default},
    {"profile", "Run a program and show where its time went: a page, a trace, tables", run_profile},
    {"check", "Run a program and report what its kernels and streams would do wrong on a chip", run_check},
    {"stats", "Print the figures of a profile", run_stats},
    {"export", "Write a profile as a page, a trace or tables", run_export},
    {"msprof", "What bin/msprof does: the command line of the toolkit's profiler", run_msprof},
    {"top", "Show what the programs that use Canopy do now, again and again", run_top},
    {"dump", "Show dump files as text, or write their data for numpy", run_dump},
    {"replay", "Run a block of a failed launch again, also under gdb", run_replay},
    {"doctor", "Check the sources of a program for things that do not work with Canopy", run_doctor},
};

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments(argv + 1, argv + std::max(argc, 1));
    std::string subcommands = "Subcommands:\n";
    for (const Command& command : commands) {
        if (!arguments.empty() && arguments.front() == command.name) {
            arguments.erase(arguments.begin());
            return command.run({std::string("canopy ") + command.name, command.meaning}, arguments);
        }
        subcommands += fmt::format("  {:<24}{}\n", command.name, command.meaning);
    }
    subcommands.pop_back();
    bool version = false;
    const CommandLine line = {.name = "canopy",
                              .meaning = "Canopy runs programs for the AscendCL runtime on this computer.",
                              .options = {{"--version", "Display program version information and exit", &version}},
                              .footer = subcommands};
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    if (version) {
        std::cout << "canopy " CANOPY_VERSION "\n";
        return 0;
    }
    std::cerr << "canopy: a subcommand is required\nRun with --help for more information.\n";
    return 2;
}
