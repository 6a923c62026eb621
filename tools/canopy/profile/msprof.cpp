// SPDX-License-Identifier: Apache-2.0
#include "msprof.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>

#include "files.h"
#include "profile/result_folder.h"
#include "program_run.h"

namespace canopy_tool {
namespace {

using canopy::Expected;
using canopy::Problem;
using canopy::profile::ProfileFile;
namespace fs = std::filesystem;

constexpr std::string_view help =
    "Profiles a program and writes its results into a folder PROF_*, as the profiler of the toolkit does.\n"
    "Usage: msprof [--output=FOLDER] [OPTIONS] program [arguments]\n"
    "       msprof --export=on --output=FOLDER [OPTIONS]\n"
    "\n"
    "Options:\n"
    "  --output=FOLDER         Where the folder PROF_* goes (default: here); with --export, that folder, or its "
    "parent\n"
    "  --application=COMMAND   The program and its arguments, in one text\n"
    "  --export=on             Write the trace and the tables of a folder PROF_* again\n"
    "  --clear=on              Remove the profile itself from the folder afterwards\n"
    "  -h,--help               Print this help message and exit\n"
    "\n"
    "Other options of the toolkit's profiler are accepted; Canopy records everything and ignores them. `canopy "
    "profile` has\n"
    "its own, and `canopy stats FOLDER` shows the results.\n";

// Options that choose what is recorded or shown; with any value.
constexpr std::string_view known[] = {"ascendcl",
                                      "runtime-api",
                                      "task-time",
                                      "task-trace",
                                      "ai-core",
                                      "aic-mode",
                                      "aic-freq",
                                      "aic-metrics",
                                      "aicpu",
                                      "l2",
                                      "hccl",
                                      "ge-api",
                                      "msproftx",
                                      "mstx-domain-include",
                                      "mstx-domain-exclude",
                                      "type",
                                      "summary-format",
                                      "iteration-id",
                                      "model-id",
                                      "reports",
                                      "storage-limit",
                                      "sys-hardware-mem",
                                      "sys-hardware-mem-freq",
                                      "sys-cpu-profiling",
                                      "sys-cpu-freq",
                                      "sys-profiling",
                                      "sys-sampling-freq",
                                      "sys-pid-profiling",
                                      "sys-pid-sampling-freq",
                                      "sys-io-profiling",
                                      "sys-io-sampling-freq",
                                      "sys-interconnection-profiling",
                                      "sys-interconnection-freq",
                                      "dvpp-profiling",
                                      "dvpp-freq",
                                      "llc-profiling",
                                      "sys-lp-profiling",
                                      "sys-lp-freq",
                                      "host-sys",
                                      "host-sys-pid",
                                      "host-sys-usage",
                                      "host-sys-usage-freq",
                                      "task-memory",
                                      "task-block",
                                      "task-tsfw",
                                      "instr-profiling",
                                      "instr-profiling-freq",
                                      "environment",
                                      "python-path",
                                      "model-execution",
                                      "dynamic",
                                      "delay",
                                      "duration",
                                      "analyze",
                                      "rule",
                                      "parse",
                                      "query",
                                      "sys-period",
                                      "sys-devices"};

void note(std::string_view text) { std::fputs(fmt::format("msprof: {}\n", text).c_str(), stderr); }

struct Line {
    std::map<std::string, std::string> options;
    std::vector<std::string> command;
};

// Options that are used here have their value behind "=" or in the next argument; those that change nothing behind "=".
bool is_used(std::string_view name) {
    return name == "output" || name == "application" || name == "export" || name == "clear";
}

// Options, up to the first argument that is not one: the program.
Line read(const std::vector<std::string>& arguments) {
    Line line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& one = arguments[i];
        if (one == "--" || !one.starts_with("-")) {
            line.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i + (one == "--")), arguments.end());
            break;
        }
        const std::size_t dashes = one.starts_with("--") ? 2 : 1;
        const std::size_t equals = std::min(one.find('='), one.size());
        const std::string name = one.substr(dashes, equals - dashes);
        std::string& value = line.options[name];
        if (equals < one.size())
            value = one.substr(equals + 1);
        else if (is_used(name) && i + 1 < arguments.size())
            value = arguments[++i];
    }
    return line;
}

// Words of a text, as a shell divides them without quotes.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(' ', at);
        if (begin == std::string_view::npos) break;
        at = std::min(text.find(' ', begin), text.size());
        words.emplace_back(text.substr(begin, at - begin));
    }
    return words;
}

bool holds_profile(const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / canopy::profile::profile_in_folder, error);
}

// The folder itself, or those in it.
std::vector<std::string> folders_to_export(const std::string& path) {
    std::vector<std::string> folders;
    std::error_code error;
    if (holds_profile(path)) return {path};
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().string().starts_with("PROF_") && holds_profile(entry->path()))
            folders.push_back(entry->path().string());
    std::sort(folders.begin(), folders.end());
    return folders;
}

int export_folders(const std::string& path, bool clear) {
    if (path.empty()) {
        note("--export requires --output=FOLDER");
        return 2;
    }
    const std::vector<std::string> folders = folders_to_export(path);
    if (folders.empty()) {
        note(fmt::format("{} is not a folder PROF_* with a {}, and holds no such folder", path,
                         canopy::profile::profile_in_folder));
        return 1;
    }
    int status = 0;
    for (const std::string& folder : folders) {
        Expected<ProfileFile> file = open_profile(folder);
        const Problem problem = file.ok() ? write_output(*file, folder) : file.problem();
        if (problem) {
            note(problem.message());
            status = 1;
            continue;
        }
        std::fputs(fmt::format("{}/{}\n", folder, canopy::profile::output_in_folder).c_str(), stdout);
        std::error_code error;
        if (clear) fs::remove(folder + "/" + std::string(canopy::profile::profile_in_folder), error);
    }
    return status;
}

int collect(const std::vector<std::string>& command, const std::string& output) {
    const std::string parent = output.empty() ? "." : output;
    std::error_code error;
    fs::create_directories(parent, error);
    Expected<RecordingFolder> recording = RecordingFolder::create(fmt::format("{}/recording-{}", parent, ::getpid()));
    if (!recording.ok()) {
        note(recording.message());
        return 125;
    }
    const std::string absolute = fs::absolute(recording->path(), error).string();
    int cannot_start = 0;
    Expected<ProgramEnd> end = run_program(command, {{"CANOPY_PROFILE", absolute + "/%p.canopyprof"}}, cannot_start);
    if (!end.ok()) {
        note(end.message());
        return cannot_start;
    }
    bool whole = true;
    const std::vector<std::string> profiles = recording->profiles(end->process);
    if (profiles.empty()) note(fmt::format("{} did not use Canopy, so there is no profile", command.front()));
    for (const std::string& path : profiles) {
        Expected<ProfileFile> file = ProfileFile::open_with_black_box(path);
        const Expected<std::string> made =
            file.ok() ? canopy::profile::write_result_folder(*file, parent) : Expected<std::string>(file.problem());
        if (made.ok()) {
            note(fmt::format("the results are in {}", made.value()));
            if (!file->black_box().empty()) ::unlink(file->black_box().c_str());
            continue;
        }
        note(made.message());
        recording->keep();
        whole = false;
    }
    if (!whole) note(fmt::format("the profiles themselves are in {}", recording->path()));
    return end->status == 0 && !whole ? 1 : end->status;
}

}  // namespace

int run_msprof(const std::vector<std::string>& arguments) {
    Line line = read(arguments);
    const auto value = [&](const char* name) {
        const auto found = line.options.find(name);
        return found == line.options.end() ? std::string() : found->second;
    };
    if (arguments.empty() || line.options.contains("help") || line.options.contains("h")) {
        std::fputs(std::string(help).c_str(), stdout);
        return 0;
    }
    for (const auto& [name, text] : line.options) {
        if (is_used(name)) continue;
        const bool of_toolkit = std::find(std::begin(known), std::end(known), name) != std::end(known);
        note(fmt::format("--{} {}", name, of_toolkit ? "changes nothing here" : "is unknown and ignored"));
    }
    if (value("export") == "on") return export_folders(value("output"), value("clear") == "on");
    if (line.command.empty()) line.command = words_of(value("application"));
    if (line.command.empty()) {
        note("a program is required\nRun with --help for more information.");
        return 2;
    }
    return collect(line.command, value("output"));
}

}  // namespace canopy_tool
