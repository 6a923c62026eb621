// SPDX-License-Identifier: Apache-2.0
#include "profile/result_folder.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "foundation/clock.h"
#include "foundation/hash.h"
#include "foundation/json.h"
#include "profile/csv.h"
#include "profile/page.h"
#include "profile/summary.h"
#include "profile/text_output.h"
#include "profile/trace_json.h"

namespace canopy::profile {
namespace {

std::atomic<std::uint32_t> folders_made{0};

constexpr std::string_view read_me =
    "msprof_*.json            timeline; open it in Perfetto or chrome://tracing\n"
    "op_summary_*.csv         every kernel that ran, by time\n"
    "op_statistic_*.csv       kernels by name: how often, how long\n"
    "api_statistic_*.csv      functions of the interface: how often, how long\n"
    "task_time_*.csv          every task of every stream, by time\n"
    "step_trace_*.csv         steps that the program marked\n"
    "msprof_tx_*.csv, .json   marks and ranges of the program\n"
    "memory_record_*.csv      memory in use after every change\n"
    "npu_mem_*.csv            the same, by device\n"
    "\n"
    "A file without rows is not written. N/A: there is no such figure on this device.\n"
    "timeline.html, one folder up, shows all of it in a browser; profile.canopyprof is the profile itself:\n"
    "`canopy stats` and `canopy export` read it.\n";

std::int64_t unix_now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * second + time.tv_nsec;
}

// Eight letters, A to R.
std::string letters(std::uint64_t seed) {
    std::uint64_t number = hash_of(std::as_bytes(std::span(&seed, 1)));
    std::string text;
    for (int i = 0; i < 8; ++i, number /= 18) text += static_cast<char>('A' + number % 18);
    return text;
}

Expected<std::string> make_folder(const std::string& parent, std::uint64_t process) {
    const std::uint32_t run = folders_made.fetch_add(1, std::memory_order_relaxed) + 1;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::int64_t time = unix_now();
        const std::string path = fmt::format("{}/PROF_{:06}_{}_{:08}{}", parent, run, time_in_name(time, true), process,
                                             letters(static_cast<std::uint64_t>(time) + process));
        if (::mkdir(path.c_str(), 0700) == 0) return path;
        if (errno != EEXIST) return Problem{path, ": ", std::strerror(errno)};
    }
    return Problem{parent, ": no name for a new folder is free"};
}

Problem make_inside(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
    return Problem{path, ": ", std::strerror(errno)};
}

Problem write_text(const std::string& path, std::string_view text) {
    Expected<TextOutput> out = TextOutput::create(path);
    if (!out.ok()) return out.problem();
    out->text(text);
    return out->finish();
}

// Keeps the first problem; later parts are tried all the same.
void note(Problem& first, Problem next) {
    if (!first) first = std::move(next);
}

Json about_host(const ProfileFile& file) {
    Json facts;
    for (const char* key : {"program", "arguments", "host", "processor", "version", "cost_of_a_record_ns"})
        facts[key] = file.fact(key);
    facts["process"] = file.process();
    facts["records"] = file.record_count();
    facts["lost_records"] = file.lost();
    facts["damage"] = file.damage();
    return facts;
}

Json about_device(const DeviceFacts& device) {
    return {{"number", device.number},
            {"kind", device.kind},
            {"chip", device.chip},
            {"cube_cores", device.cube_cores},
            {"vector_cores", device.vector_cores},
            {"cpu_cores", device.cpu_cores},
            {"workers", device.workers},
            {"memory", device.memory}};
}

Problem write_facts(const ProfileFile& file, const std::string& folder) {
    Problem problem = make_inside(folder + "/host");
    note(problem, write_text(folder + "/host/info.json", about_host(file).dump(2) + "\n"));
    for (const auto& [number, device] : file.devices()) {
        if (number > UINT8_MAX) break;  // of a damaged file
        const std::string place = fmt::format("{}/device_{}", folder, number);
        note(problem, make_inside(place));
        note(problem, write_text(place + "/info.json", about_device(device).dump(2) + "\n"));
    }
    return problem;
}

Problem write_output(ProfileFile& file, const Summary& summary, const std::string& folder) {
    const std::string output = folder + "/" + std::string(output_in_folder);
    Problem problem = make_inside(output);
    const std::string suffix = time_in_name(unix_now(), false);
    note(problem, write_trace_json(file, output + "/msprof_" + suffix + ".json"));
    note(problem, write_tables(file, summary, output, suffix).problem);
    note(problem, write_text(output + "/README.txt", read_me));
    return problem;
}

}  // namespace

std::string time_in_name(std::int64_t unix_nanoseconds, bool milliseconds) {
    const time_t seconds = unix_nanoseconds / second;
    tm parts{};
    localtime_r(&seconds, &parts);
    std::string text = fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                                   parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    if (milliseconds) text += fmt::format("{:03}", unix_nanoseconds / millisecond % 1000);
    return text;
}

Problem write_output(ProfileFile& file, const std::string& folder) {
    return write_output(file, summarise(file), folder);
}

Expected<std::string> write_result_folder(ProfileFile& file, const std::string& parent) {
    Expected<std::string> made = make_folder(parent, file.process());
    if (!made.ok()) return made;
    const std::string& folder = made.value();
    // The profile comes first: everything else can be made from it.
    Problem problem = file.copy_to(folder + "/" + std::string(profile_in_folder));
    const Summary summary = summarise(file);
    note(problem, write_facts(file, folder));
    note(problem, write_output(file, summary, folder));
    PageOptions page;
    page.summary = &summary;
    note(problem, write_page(file, folder + "/" + std::string(page_in_folder), page));
    if (problem) return Problem{problem.message(), "; what could be written is in ", folder};
    return made;
}

}  // namespace canopy::profile
