// SPDX-License-Identifier: Apache-2.0
// Launching the empty one-block kernel with five arguments: many in a row, and one at a time with a synchronisation.
#include <fmt/core.h>

#include "harness/topics.h"
#include "rivals/pocl.h"
#include "rivals/task_group.h"

namespace bench {
namespace {

constexpr std::size_t warm_up = 1'000;

// An argument list that is filled once and launched many times.
class ArgumentList {
public:
    ArgumentList(aclrtFuncHandle function, FiveArguments values) {
        BENCH_CHECK(aclrtKernelArgsInit(function, &handle_));
        std::uint32_t count = 1024;
        float factor = 1;
        append(&values.a, sizeof(values.a));
        append(&values.b, sizeof(values.b));
        append(&values.out, sizeof(values.out));
        append(&count, sizeof(count));
        append(&factor, sizeof(factor));
        BENCH_CHECK(aclrtKernelArgsFinalize(handle_));
    }
    [[nodiscard]] aclrtArgsHandle get() const { return handle_; }

private:
    void append(void* value, std::size_t size) {
        aclrtParamHandle parameter = nullptr;
        BENCH_CHECK(aclrtKernelArgsAppend(handle_, value, size, &parameter));
    }
    aclrtArgsHandle handle_ = nullptr;
};

// The goal of a row: a time in nanoseconds, and a fraction of PoCL's time.
struct Goal {
    double nanoseconds;
    double part_of_pocl;
};

Row judge(const char* name, const char* what, const Contender& ours, const std::vector<Contender>& contenders,
          const std::vector<std::string>& missing, Goal goal) {
    const double time = ours.summary().p50;
    Row row{name,
            what,
            nanoseconds_text(time),
            fmt::format("<= {:.0f} ns and <= 1/{:.0f} PoCL", goal.nanoseconds, goal.part_of_pocl),
            rivals_text(contenders, missing),
            "",
            time <= goal.nanoseconds ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
    bool found = false;
    for (const Contender& contender : contenders) {
        if (contender.name != "PoCL") continue;
        found = true;
        const double ratio = contender.summary().p50 / time;
        row.ratio = fmt::format("1/{:.0f} of PoCL, 1/{:.0f} of its best", ratio, contender.summary().lowest / time);
        row.numbers["times_faster_than_pocl"] = ratio;
        if (ratio < goal.part_of_pocl) row.verdict = Verdict::missed;
    }
    if (!found && row.verdict == Verdict::reached) row.verdict = Verdict::no_rival;
    return row;
}

}  // namespace

void measure_launch(Environment& environment) {
    constexpr std::size_t batch = 20'000;
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    const ArgumentList list(function, arguments);
    const auto with_host_arguments = [&](std::size_t count) {
        launch_empty(function, stream, arguments, count);
        stream.synchronise();
    };
    const auto with_list = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            BENCH_CHECK(aclrtLaunchKernelWithConfig(function, 1, stream.get(), nullptr, list.get(), nullptr));
        stream.synchronise();
    };
    std::vector<Contender> contenders = {{"Canopy", [&] { return time_each(warm_up, batch, with_host_arguments); }}};
    std::vector<std::string> missing;
    const auto pocl = Pocl::open();
    if (pocl)
        contenders.push_back({"PoCL", [&] {
                                  return time_each(warm_up, batch / 4,
                                                   [&](std::size_t count) { pocl->enqueue_then_finish(count); });
                              }});
    else
        missing.push_back("PoCL not installed");
    const auto group = TaskGroup::open();
    if (group)
        contenders.push_back(
            {"oneTBB",
             [&] { return time_each(warm_up, batch, [&](std::size_t count) { group->run_then_wait(count); }); }});
    else
        missing.push_back("oneTBB not installed");
    contenders.push_back({"argument list", [&] { return time_each(warm_up, batch, with_list); }});
    take_turns(contenders, environment.options.rounds(100));

    const Contender list_contender = contenders.back();
    contenders.pop_back();
    const Goal goal{120, 10};
    environment.report.add(
        judge("launch", "sustained launch, empty kernel, 5 arguments", contenders[0], contenders, missing, goal));
    contenders[0] = list_contender;
    environment.report.add(judge("launch-list", "the same, finished argument list (WithConfig)", contenders[0],
                                 contenders, missing, goal));
}

void measure_launch_synchronise(Environment& environment) {
    constexpr std::size_t batch = 5'000;
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    std::vector<Contender> contenders = {{"Canopy", [&] {
                                              return time_each(warm_up, batch, [&](std::size_t count) {
                                                  for (std::size_t i = 0; i < count; ++i) {
                                                      launch_empty(function, stream, arguments, 1);
                                                      stream.synchronise();
                                                  }
                                              });
                                          }}};
    std::vector<std::string> missing;
    const auto pocl = Pocl::open();
    if (pocl)
        contenders.push_back({"PoCL", [&] {
                                  return time_each(warm_up / 10, batch / 10,
                                                   [&](std::size_t count) { pocl->enqueue_and_finish_each(count); });
                              }});
    else
        missing.push_back("PoCL not installed");
    const auto group = TaskGroup::open();
    if (group)
        contenders.push_back(
            {"oneTBB",
             [&] { return time_each(warm_up, batch, [&](std::size_t count) { group->run_and_wait_each(count); }); }});
    else
        missing.push_back("oneTBB not installed");
    take_turns(contenders, environment.options.rounds(100));
    environment.report.add(
        judge("launch-synchronise", "launch and synchronise", contenders[0], contenders, missing, {400, 50}));
}

}  // namespace bench
