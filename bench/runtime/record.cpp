// SPDX-License-Identifier: Apache-2.0
// What recording costs: the same operations without a profile and with one, in turns, in one process. A recording
// begins before the clock of its round and ends after it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "canopy/profile.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t warm_up = 1'000;
constexpr std::uint32_t nothing = 0;
constexpr double second = 1e9;

// Records into a file while it lives, if there is something to record.
class Recording {
public:
    Recording(const std::string& path, std::uint32_t want) {
        if (want != nothing) BENCH_CHECK(canopyProfileStart(path.c_str(), want, &profile_));
    }
    ~Recording() {
        if (profile_) canopyProfileClose(profile_);
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    // Ends it and says how many records are in the file, and how many were lost.
    canopyProfileFacts finish() {
        canopyProfileFacts facts{};
        BENCH_CHECK(canopyProfileStop(profile_));
        BENCH_CHECK(canopyProfileGetFacts(profile_, &facts));
        return facts;
    }

private:
    canopyProfile* profile_ = nullptr;
};

// A new folder for the file that all rounds write.
class ProfilePath {
public:
    ProfilePath() : folder_((std::filesystem::temp_directory_path() / "bench-XXXXXX").string()) {
        if (!::mkdtemp(folder_.data())) throw std::runtime_error("no temporary folder");
        path_ = folder_ + "/profile";
    }
    ~ProfilePath() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    ProfilePath(const ProfilePath&) = delete;
    ProfilePath& operator=(const ProfilePath&) = delete;
    [[nodiscard]] const std::string& get() const { return path_; }

private:
    std::string folder_, path_;
};

// Rounds of `operation(count)` while `want` is recorded.
template <class Operation>
Contender recorded(const char* name, const ProfilePath& path, std::uint32_t want, std::size_t batch,
                   const Operation& operation) {
    return {name, [&path, want, batch, &operation] {
                const Recording recording(path.get(), want);
                return time_each(warm_up, batch, operation);
            }};
}

std::string more_text(double more) { return (more < 0 ? "-" : "+") + nanoseconds_text(std::abs(more)); }

// The first contender records, the second one does not; the others are shown beside them.
Row compare(const char* name, const char* what, const std::vector<Contender>& contenders, double goal, double parts) {
    const double more = (contenders[0].summary().p50 - contenders[1].summary().p50) / parts;
    Row row{name,
            what,
            more_text(more),
            fmt::format("<= {:.0f} ns more", goal),
            fmt::format("recorded {}; {}", nanoseconds_text(contenders[0].summary().p50), rivals_text(contenders, {})),
            "",
            more <= goal ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
    row.numbers["more"] = more;
    return row;
}

void measure_tasks(Environment& environment, const ProfilePath& path) {
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    const auto launches = [&](std::size_t count) {
        launch_empty(function, stream, arguments, count);
        stream.synchronise();
    };
    constexpr std::size_t batch = 20'000;
    std::vector<Contender> contenders = {
        recorded("recorded", path, CANOPY_PROFILE_TASKS, batch, launches),
        recorded("not recorded", path, nothing, batch, launches),
        recorded("with calls", path, CANOPY_PROFILE_TASKS | CANOPY_PROFILE_CALLS, batch, launches),
        recorded("everything", path, CANOPY_PROFILE_EVERYTHING, batch, launches)};
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(compare("record-task", "sustained launch, empty kernel: tasks recorded", contenders, 40, 1));
}

void measure_blocks(Environment& environment, const ProfilePath& path) {
    constexpr std::uint32_t blocks = 48;
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    const auto launches = [&](std::size_t count) {
        launch_empty(function, stream, arguments, count, blocks);
        stream.synchronise();
    };
    constexpr std::size_t batch = 1'000;
    constexpr std::uint32_t without = CANOPY_PROFILE_TASKS;
    std::vector<Contender> contenders = {recorded("recorded", path, without | CANOPY_PROFILE_BLOCKS, batch, launches),
                                         recorded("tasks only", path, without, batch, launches)};
    take_turns(contenders, environment.options.rounds(40));
    environment.report.add(
        compare("record-block", "a block, in launches of 48 empty ones: blocks recorded", contenders, 40, blocks));
}

void call_often(std::size_t count) {
    std::int32_t device = 0;
    for (std::size_t i = 0; i < count; ++i) BENCH_CHECK(aclrtGetDevice(&device));
}

void measure_calls(Environment& environment, const ProfilePath& path) {
    constexpr std::size_t batch = 20'000;
    std::vector<Contender> contenders = {recorded("recorded", path, CANOPY_PROFILE_CALLS, batch, call_often),
                                         recorded("not recorded", path, nothing, batch, call_often)};
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(compare("record-call", "aclrtGetDevice: calls recorded", contenders, 30, 1));
}

// As many launches as a ring has room for, so that nothing is lost.
void measure_bytes(Environment& environment, const ProfilePath& path) {
    constexpr std::size_t launches = 20'000;
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    const auto bytes_of_a_task = [&](std::uint32_t want) {
        Recording recording(path.get(), want);
        launch_empty(function, stream, arguments, launches);
        stream.synchronise();
        const canopyProfileFacts facts = recording.finish();
        if (facts.lost != 0 || facts.records < launches) throw std::runtime_error("records are missing");
        return static_cast<double>(std::filesystem::file_size(path.get())) / launches;
    };
    const double everything = bytes_of_a_task(CANOPY_PROFILE_EVERYTHING);
    const double tasks = bytes_of_a_task(CANOPY_PROFILE_TASKS);
    environment.report.add({"record-bytes",
                            "a launch in the file, with its call",
                            fmt::format("{:.1f} bytes", everything),
                            "<= 48 bytes",
                            fmt::format("tasks only {:.1f} bytes", tasks),
                            "",
                            everything <= 48 ? Verdict::reached : Verdict::missed,
                            {{"everything", everything}, {"tasks", tasks}}});
}

struct Pace {
    double reached;  // records in a second
    std::uint64_t lost;
};

// Makes calls for a quarter of a second, one every `interval` nanoseconds.
Pace call_at_pace(const std::string& path, const StampClock& clock, double interval) {
    Recording recording(path, CANOPY_PROFILE_CALLS);
    const std::uint64_t begin = StampClock::read();
    const std::uint64_t end = begin + clock.ticks(second / 4);
    const auto step = static_cast<double>(clock.ticks(1000 * interval)) / 1000;
    std::uint64_t time = begin;
    for (double next = 0; time < end; next += step) {
        while (time - begin < static_cast<std::uint64_t>(next)) time = StampClock::read();
        call_often(1);
        time = StampClock::read();
    }
    const double seconds = clock.nanoseconds(time - begin) / second;
    const canopyProfileFacts facts = recording.finish();
    return {static_cast<double>(facts.records + facts.lost) / seconds, facts.lost};
}

// A thread makes calls faster and faster until records are lost.
void measure_rate(Environment& environment, const ProfilePath& path) {
    const StampClock clock;
    double best = 0;
    Pace pace{};
    for (double interval = 200; pace.lost == 0; interval /= 1.2) {
        pace = call_at_pace(path.get(), clock, interval);
        if (pace.lost == 0) best = std::max(best, pace.reached);
        if (pace.reached < 0.8 * second / interval) break;  // faster than the thread
    }
    const std::string end = pace.lost == 0 ? "as fast as the thread can make them"
                                           : fmt::format("lost from {:.1f} M/s on", pace.reached / 1e6);
    environment.report.add({"record-rate",
                            "calls of one thread that are recorded, none lost",
                            fmt::format("{:.1f} M/s", best / 1e6),
                            ">= 10 M/s",
                            "",
                            end,
                            best >= 1e7 ? Verdict::reached : Verdict::missed,
                            {{"records_per_second", best}, {"lost_at", pace.lost == 0 ? 0 : pace.reached}}});
}

}  // namespace

void measure_recording(Environment& environment) {
    const ProfilePath path;
    measure_tasks(environment, path);
    measure_blocks(environment, path);
    measure_calls(environment, path);
    measure_bytes(environment, path);
    measure_rate(environment, path);
}

}  // namespace bench
