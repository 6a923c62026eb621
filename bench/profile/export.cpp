// SPDX-License-Identifier: Apache-2.0
// What is made from a profile of ten million records, on one thread: the figures, and the trace, written to /dev/null
// so that no disk is measured. The records are launches and their tasks on four streams.
#include <fmt/core.h>
#include <time.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "foundation/files.h"
#include "harness/topics.h"
#include "profile/profile_file.h"
#include "profile/profile_writer.h"
#include "profile/summary.h"
#include "profile/trace_json.h"

namespace bench {
namespace {

using namespace canopy::profile;

constexpr std::uint32_t launches_of_part = 8192;

void write_launches(ProfileWriter& writer, std::uint32_t launches) {
    writer.text(0, "");
    for (std::uint32_t name = 1; name <= 40; ++name) writer.text(name, fmt::format("kernel_{}", name));
    writer.text(41, "aclrtLaunchKernel");
    std::vector<Record> calls, tasks;
    for (std::uint32_t i = 1; i <= launches; ++i) {
        Record call{};
        call.begin = std::uint64_t{2000} * i;
        call.duration = 200 + i % 64;
        call.kind = static_cast<std::uint64_t>(Kind::call);
        call.name = 41;
        call.argument = 1;
        call.link = link_of(1 + i % 4, i);
        calls.push_back(call);
        Record task = call;
        task.begin += 300;
        task.duration = 1000 + i % 512;
        task.kind = static_cast<std::uint64_t>(Kind::task);
        task.name = 1 + i % 40;
        task.object = TaskObject{TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector)}.packed();
        task.argument = 8;
        tasks.push_back(task);
        if (calls.size() < launches_of_part && i < launches) continue;
        writer.records(1, calls);
        writer.records(2, tasks);
        calls.clear();
        tasks.clear();
    }
}

double processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

ProfileFile make_profile(const std::string& path, std::uint32_t launches) {
    auto writer = ProfileWriter::create(path, {});
    if (!writer.ok()) throw std::runtime_error(writer.message());
    write_launches(*writer, launches);
    writer->close();
    if (writer->problem()) throw std::runtime_error(writer->problem().message());
    auto file = ProfileFile::open(path);
    if (!file.ok()) throw std::runtime_error(file.message());
    return std::move(file).value();
}

}  // namespace

void measure_profile(Environment& environment) {
    const std::uint32_t launches = environment.options.quick ? 500'000 : 5'000'000;
    auto folder = canopy::TemporaryFolder::create("bench");
    if (!folder.ok()) throw std::runtime_error(folder.message());
    ProfileFile file = make_profile(folder->path() + "/profile", launches);
    const std::string what = fmt::format("{} million records", 2 * launches / 1e6);

    TraceCounts counts;
    double begin = processor_time();
    const canopy::Problem problem = write_trace_json(file, "/dev/null", &counts);
    const double trace = processor_time() - begin;
    if (problem) throw std::runtime_error(problem.message());
    const double rate = static_cast<double>(counts.bytes) / trace;
    environment.report.add({"profile-json",
                            "a trace in JSON from " + what,
                            rate_text(rate),
                            ">= 0.2 GB/s",
                            "",
                            "",
                            rate >= 0.2 ? Verdict::reached : Verdict::missed,
                            {{"bytes", counts.bytes}, {"seconds", trace / 1e9}}});

    begin = processor_time();
    const auto summary = summarise(file);
    const double each = (processor_time() - begin) / static_cast<double>(summary.records);
    environment.report.add({"profile-stats",
                            "the figures of " + what + ", for each",
                            nanoseconds_text(each),
                            "<= 200 ns",
                            "",
                            "",
                            each <= 200 ? Verdict::reached : Verdict::missed,
                            {{"records", summary.records}}});
}

}  // namespace bench
