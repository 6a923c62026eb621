// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "files.h"
#include "formats.h"
#include "profile/summary.h"
#include "program_run.h"
#include "report.h"

namespace canopy_tool {
namespace {

using canopy::Expected;
using canopy::Problem;
using canopy::profile::ProfileFile;
using canopy::profile::Summary;

constexpr int not_started = 125;

void complain(std::string_view command, std::string_view text) {
    std::fputs(fmt::format("canopy {}: {}\n", command, text).c_str(), stderr);
}

bool colours_on(int file) {
    const char* const terminal = std::getenv("TERM");
    const char* const none = std::getenv("NO_COLOR");
    return ::isatty(file) == 1 && (none == nullptr || *none == '\0') &&
           (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

bool knows_wanted(std::string_view list) {
    constexpr std::string_view words[] = {"calls", "tasks", "nodes", "blocks",    "memory",
                                          "marks", "idle",  "steps", "everything"};
    while (true) {
        const std::size_t comma = list.find(',');
        bool known = false;
        for (const std::string_view word : words) known = known || word == list.substr(0, comma);
        if (!known) return false;
        if (comma == std::string_view::npos) return true;
        list.remove_prefix(comma + 1);
    }
}

// Where the results of a run go: a folder, or one file.
struct Destination {
    std::string path;
    std::optional<Format> file;  // the format of the file
    std::vector<Format> formats;
    bool made = false;  // the folder is a new one
};

Expected<Destination> destination_of(const ProfileOptions& options) {
    Destination to;
    const auto formats = formats_of(options.formats.empty() ? "html,json.gz,prof" : options.formats);
    if (!formats) return Problem{"--format: ", options.formats, " is not a list of ", format_words};
    to.formats = *formats;
    to.path = options.output;
    if (!options.want.empty() && !knows_wanted(options.want))
        return Problem{"--want: ", options.want,
                       " is not a list of calls, tasks, nodes, blocks, memory, marks, steps, idle"};
    if (to.path.empty()) {
        Expected<std::string> made = make_new_folder(name_of_program(options.command.front()));
        if (!made.ok()) return made.problem();
        to.path = *made;
        to.made = true;
        return to;
    }
    to.file = format_of_file(to.path);
    if (to.file) {
        if (!options.formats.empty() && (to.formats.size() != 1 || to.formats.front() != *to.file))
            return Problem{"--format ", options.formats, " does not fit the file ", to.path};
        return to;
    }
    std::error_code error;
    to.made = !std::filesystem::exists(to.path, error);
    if (Problem problem = make_folder(to.path)) return problem;
    return to;
}

// "run.json.gz" and 42: "run.42.json.gz".
std::string with_number(const std::string& path, std::uint64_t number) {
    const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    std::size_t dot = path.rfind('.');
    if (path.ends_with(".json.gz")) dot = path.size() - std::strlen(".json.gz");
    return dot == std::string::npos || dot < name
               ? fmt::format("{}.{}", path, number)
               : fmt::format("{}.{}{}", path.substr(0, dot), number, path.substr(dot));
}

Written write_results(const Destination& to, ProfileFile& file, const Summary& summary, bool first) {
    if (to.file) {
        const std::string path = first ? to.path : with_number(to.path, file.process());
        Written written;
        if (const Problem problem = write_format(file, summary, *to.file, path))
            written.problems.push_back(problem.message());
        else
            written.files.push_back(path);
        return written;
    }
    std::string folder = to.path;
    if (!first) folder += fmt::format("/process-{}", file.process());
    if (const Problem problem = make_folder(folder)) return {{}, {problem.message()}};
    return write_formats(file, summary, to.formats, folder);
}

std::string explain_end(const ProgramEnd& end) {
    if (end.signal == 0) return {};
    return fmt::format("the program was ended by signal {} ({}); what it did in its last moments may be missing",
                       end.signal, ::strsignal(end.signal));
}

// Writes and prints the results of all processes; whether everything could be written.
bool finish_run(const ProfileOptions& options, const Destination& to, RecordingFolder& recording,
                const ProgramEnd& end) {
    const std::vector<std::string> profiles = recording.profiles(end.process);
    std::string text, files;
    bool whole = true, first = true;
    for (const std::string& path : profiles) {
        Expected<ProfileFile> file = ProfileFile::open_with_black_box(path);
        if (!file.ok()) {
            complain("profile", file.message());
            recording.keep();
            whole = false;
            continue;
        }
        const Summary summary = canopy::profile::summarise(*file);
        const Written written = write_results(to, *file, summary, first);
        ReportOptions report;
        report.colours = colours_on(STDERR_FILENO);
        report.brief = true;
        if (profiles.size() > 1) text += fmt::format("Process {}\n", file->process());
        text += report_text(*file, summary, report);
        for (const std::string& one : written.files) files += fmt::format("  {}\n", one);
        for (const std::string& problem : written.problems) complain("profile", problem);
        if (!written.problems.empty()) recording.keep();
        if (written.problems.empty() && !file->black_box().empty()) ::unlink(file->black_box().c_str());
        whole = whole && written.problems.empty();
        first = false;
    }
    if (!options.quiet) std::fputs(("\n" + text + "Files\n" + files).c_str(), stderr);
    if (!whole) complain("profile", fmt::format("the profiles themselves are in {}", recording.path()));
    return whole;
}

}  // namespace

int profile_program(const ProfileOptions& options) {
    Expected<Destination> to = destination_of(options);
    if (!to.ok()) {
        complain("profile", to.message());
        return not_started;
    }
    const std::string place = to->file ? fmt::format("{}.recording-{}", to->path, ::getpid())
                                       : fmt::format("{}/recording-{}", to->path, ::getpid());
    std::error_code error;
    Expected<RecordingFolder> recording = RecordingFolder::create(place);
    if (!recording.ok()) {
        complain("profile", recording.message());
        return not_started;
    }
    const std::string absolute = std::filesystem::absolute(recording->path(), error).string();
    std::vector<std::pair<std::string, std::string>> variables = {{"CANOPY_PROFILE", absolute + "/%p.canopyprof"}};
    if (!options.want.empty()) variables.emplace_back("CANOPY_PROFILE_WANT", options.want);
    const auto remove_folder = [&] {
        if (to->made) std::filesystem::remove(to->path, error);  // if it is empty
    };
    int cannot_start = 0;
    Expected<ProgramEnd> end = run_program(options.command, variables, cannot_start);
    if (!end.ok()) {
        complain("profile", end.message());
        std::filesystem::remove(recording->path(), error);
        remove_folder();
        return cannot_start;
    }
    if (const std::string text = explain_end(*end); !text.empty()) complain("profile", text);
    if (recording->profiles(end->process).empty()) {
        complain("profile",
                 fmt::format("{} did not use Canopy, so there is no profile. Check that it loads this library: "
                             "source set_env.sh first",
                             options.command.front()));
        std::filesystem::remove_all(recording->path(), error);
        remove_folder();
        return end->status;
    }
    const bool whole = finish_run(options, *to, *recording, *end);
    return end->status == 0 && !whole ? 1 : end->status;
}

int print_stats(const StatsOptions& options) {
    int status = 0;
    canopy::Json all = canopy::Json::array();
    std::vector<std::string> paths = options.paths;
    if (options.last) {
        Expected<std::string> last = last_black_box();
        if (!last.ok()) {
            complain("stats", last.message());
            return 1;
        }
        paths.insert(paths.begin(), *last);
    }
    for (const std::string& path : paths) {
        Expected<ProfileFile> file = open_profile(path);
        if (!file.ok()) {
            complain("stats", file.message());
            status = 1;
            continue;
        }
        const Summary summary = canopy::profile::summarise(*file);
        if (options.json) {
            all.push_back(report_json(*file, summary));
            continue;
        }
        ReportOptions report;
        report.colours = colours_on(STDOUT_FILENO);
        if (options.all_rows) report.rows = SIZE_MAX;
        if (paths.size() > 1 || options.last) std::fputs(fmt::format("{}\n", path).c_str(), stdout);
        std::fputs(report_text(*file, summary, report).c_str(), stdout);
    }
    if (options.json) std::fputs((all.dump(2) + "\n").c_str(), stdout);
    return status;
}

int export_profile(const ExportOptions& options) {
    Expected<std::string> source = options.last ? last_black_box() : options.paths.front();
    if (!source.ok()) {
        complain("export", source.message());
        return 1;
    }
    const std::string from = *source;
    const auto formats = formats_of(options.formats.empty() ? "html,json.gz,csv" : options.formats);
    if (!formats) {
        complain("export", fmt::format("--format: {} is not a list of {}", options.formats, format_words));
        return 2;
    }
    Expected<ProfileFile> file = open_profile(from);
    if (!file.ok()) {
        complain("export", file.message());
        return 1;
    }
    std::string place = options.output;
    if (place.empty() && options.last) {
        Expected<std::string> made = make_new_folder(name_of_program(std::string(file->fact("program"))));
        if (!made.ok()) {
            complain("export", made.message());
            return 1;
        }
        place = *made;
    }
    Destination to{place.empty() ? folder_of_profile(from) : place, format_of_file(options.output), *formats};
    if (to.file && !options.formats.empty() && (formats->size() != 1 || formats->front() != *to.file)) {
        complain("export", fmt::format("--format {} does not fit the file {}", options.formats, to.path));
        return 2;
    }
    const Written written = write_results(to, *file, canopy::profile::summarise(*file), true);
    for (const std::string& one : written.files) std::fputs((one + "\n").c_str(), stdout);
    for (const std::string& problem : written.problems) complain("export", problem);
    if (!file->damage().empty()) complain("export", fmt::format("the profile is incomplete: {}", file->damage()));
    return written.problems.empty() ? 0 : 1;
}

}  // namespace canopy_tool
