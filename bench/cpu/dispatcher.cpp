// SPDX-License-Identifier: Apache-2.0
// The dispatcher: the cost of a run through it compared with launching the same function as a CPU kernel, and the time
// to replace the image of an id while streams keep running it.
#include "canopy/dispatcher.h"

#include <fmt/core.h>

#include <atomic>
#include <thread>

#include "cpu/cpu_binary.h"
#include "cpu/cpu_image.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr const char* entry = "DynTileFwkBackendKernelServer";

void check(const canopy::Dispatcher::Answer& answer) {
    if (!answer) throw std::runtime_error(fmt::format("the dispatcher gave {}: {}", answer.code, answer.text));
}

// The median of the differences between each round of `one` and the matching round of `other`.
double median_difference(const Contender& one, const Contender& other) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < one.samples.size(); ++i) differences.push_back(one.samples[i] - other.samples[i]);
    return summarise(std::move(differences)).p50;
}

class Comparison {
public:
    Comparison(Environment& environment, canopy::Dispatcher& dispatcher, std::uint64_t runtime, aclrtFuncHandle direct)
        : environment_(environment), dispatcher_(dispatcher), runtime_(runtime), direct_(direct) {}

    // each: operations between two synchronisations; 0: all of a round.
    void run(const char* name, const char* what, std::size_t batch, std::size_t each) {
        std::vector<Contender> contenders = {
            {"dispatcher", [=, this] { return round(batch, each, [this] { through_dispatcher(); }); }},
            {"direct launch", [=, this] { return round(batch, each, [this] { directly(); }); }}};
        take_turns(contenders, environment_.options.rounds(100));
        const double more = median_difference(contenders[0], contenders[1]);
        Row row{name,
                what,
                nanoseconds_text(contenders[0].summary().p50),
                "<= 30 ns more than a direct launch",
                rivals_text(contenders, {}),
                fmt::format("{:+.1f} ns", more),
                more <= 30 ? Verdict::reached : Verdict::missed,
                to_json(contenders)};
        row.numbers["more_than_direct"] = more;
        environment_.report.add(std::move(row));
    }

private:
    template <class Operation>
    double round(std::size_t batch, std::size_t each, Operation&& operation) {
        return time_each(batch / 10, batch, [&](std::size_t count) {
            for (std::size_t i = 1; i <= count; ++i) {
                operation();
                if (i == count || (each != 0 && i % each == 0)) stream_.synchronise();
            }
        });
    }
    void through_dispatcher() { check(dispatcher_.run(stream_.get(), runtime_, 1, &task_, sizeof(task_))); }
    void directly() {
        MarkedTask own = task_;
        BENCH_CHECK(aclrtLaunchKernelWithHostArgs(direct_, 1, stream_.get(), nullptr, &own, sizeof(own), nullptr, 0));
    }

    Environment& environment_;
    canopy::Dispatcher& dispatcher_;
    const std::uint64_t runtime_;
    const aclrtFuncHandle direct_;
    const DeviceMemory marks_{64};
    const MarkedTask task_{static_cast<std::uint32_t*>(marks_.get()), 0};
    const Stream stream_;
};

// Launches runs on two streams in turn until told to stop; every task has its own mark.
class Load {
public:
    static constexpr std::size_t most_tasks = std::size_t{32} << 20, bytes = most_tasks * sizeof(std::uint32_t);

    Load(canopy::Dispatcher& dispatcher, std::uint64_t runtime) : dispatcher_(dispatcher), runtime_(runtime) {
        BENCH_CHECK(aclrtMemset(marks_.get(), bytes, 0, bytes));
        thread_ = std::thread([this] { work(); });
    }
    // Throws if a task was lost or ran twice. Returns the number of tasks, and how many of them ran in the second
    // variant.
    std::pair<std::size_t, std::size_t> finish() {
        stopping_ = true;
        thread_.join();
        if (!problem_.empty()) throw std::runtime_error(problem_);
        const auto marks = marks_.read<std::uint32_t>();
        std::size_t second = 0;
        for (std::size_t i = 0; i < tasks_; ++i) {
            if (marks[i] != first_variant && marks[i] != second_variant)
                throw std::runtime_error(fmt::format("task {} has the mark {}: lost or doubled", i, marks[i]));
            second += marks[i] == second_variant;
        }
        return {tasks_, second};
    }
    ~Load() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
    }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;
    [[nodiscard]] bool has_begun() const { return begun_; }

private:
    void work() {
        try {
            BENCH_CHECK(aclrtSetDevice(0));
            const Stream streams[2];
            while (!stopping_) {
                if (tasks_ + 512 > most_tasks) throw std::runtime_error("too few marks for the tasks");
                for (std::size_t i = 0; i < 512; ++i) {
                    const MarkedTask task{static_cast<std::uint32_t*>(marks_.get()), tasks_++};
                    check(dispatcher_.run(streams[i % 2].get(), runtime_, 1, &task, sizeof(task)));
                }
                for (const Stream& stream : streams) stream.synchronise();
                begun_ = true;
            }
        } catch (const std::exception& problem) {
            problem_ = problem.what();
        }
    }

    canopy::Dispatcher& dispatcher_;
    const std::uint64_t runtime_;
    const DeviceMemory marks_{bytes};
    std::size_t tasks_ = 0;
    std::string problem_;
    std::atomic<bool> stopping_{false}, begun_{false};
    std::thread thread_;
};

void measure_swap(Environment& environment, canopy::Dispatcher& dispatcher, std::uint64_t runtime,
                  const std::string& first, const std::string& second, const char* size) {
    std::vector<double> alone, loaded;
    const int swaps = environment.options.rounds(400);
    const auto swap_often = [&](std::vector<double>& times) {
        for (int i = 0; i < swaps; ++i) {
            const std::string& image = i % 2 == 0 ? second : first;
            const std::uint64_t begin = now();
            check(dispatcher.swap(runtime, image.data(), image.size()));
            times.push_back(static_cast<double>(now() - begin));
        }
    };
    swap_often(alone);
    Load load(dispatcher, runtime);
    while (!load.has_begun()) std::this_thread::yield();
    swap_often(loaded);
    const auto [tasks, later] = load.finish();
    const Summary time = summarise(loaded), quiet = summarise(alone);
    Row row{
        "dispatcher-swap",
        fmt::format("swap of an inner runtime of {} while two streams run it", size),
        fmt::format("p50 {:.2f} ms, p99 {:.2f} ms, most {:.2f} ms", time.p50 / 1e6, time.p99 / 1e6, time.highest / 1e6),
        "<= 1 ms, no task lost or doubled",
        fmt::format("without load {:.2f} ms", quiet.p50 / 1e6),
        fmt::format("{:.1f} M tasks, 0 lost or doubled", static_cast<double>(tasks) / 1e6),
        time.p50 <= 1e6 ? Verdict::reached : Verdict::missed,
        {{"under load", to_json(time)}, {"without load", to_json(quiet)}}};
    row.numbers["tasks"] = tasks;
    row.numbers["tasks in the second image"] = later;
    environment.report.add(std::move(row));
}

class OpenDispatcher {
public:
    explicit OpenDispatcher(const std::string& image) {
        check(dispatcher.open(CANOPY_BENCH_DISPATCHER));
        check(dispatcher.load(image.data(), image.size(), runtime));
    }
    canopy::Dispatcher dispatcher;
    std::uint64_t runtime = 0;
};

}  // namespace

void measure_dispatcher_run(Environment& environment) {
    const std::string image = file_bytes(CANOPY_BENCH_CPU_IMAGE);
    OpenDispatcher open(image);
    const CpuBinary binary(image);
    Comparison comparison(environment, open.dispatcher, open.runtime, binary.function(entry));
    comparison.run("dispatcher-run", "run through the dispatcher, sustained", 20'000, 0);
    comparison.run("dispatcher-run-synchronise", "the same, run and synchronise", 5'000, 1);
}

void measure_dispatcher_swap(Environment& environment) {
    const auto measure = [&](const char* one, const char* other, const char* size) {
        const std::string first = file_bytes(one), second = file_bytes(other);
        OpenDispatcher open(first);
        measure_swap(environment, open.dispatcher, open.runtime, first, second, size);
    };
    measure(CANOPY_BENCH_SMALL_CPU_IMAGE, CANOPY_BENCH_SMALL_CPU_IMAGE_2, "64 KiB");
    measure(CANOPY_BENCH_CPU_IMAGE, CANOPY_BENCH_CPU_IMAGE_2, "1 MiB");
}

}  // namespace bench
