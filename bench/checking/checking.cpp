// SPDX-License-Identifier: Apache-2.0
// What checking costs: the same correct kernels in a process that checks them and in one that does not, in turns.
// Whether launches are checked is settled when a process starts, so child processes measure them.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/topics.h"
#include "language/rates.h"

namespace bench {
namespace {

constexpr std::size_t floats_of_array = std::size_t{1} << 22;

struct Case {
    const char* kernel;
    const char* what;
    std::uint64_t count;  // the kernel's last argument
    std::uint32_t blocks;
    double goal;  // times the time without checking
};

constexpr Case cases[] = {
    {"add_4096", "vector add in tiles of 4,096 floats", floats_of_array, 8, 2.5},
    {"add_1024", "vector add in tiles of 1,024 floats", floats_of_array, 8, 2.5},
    {"add_256", "vector add in tiles of 256 floats", floats_of_array, 8, 5},
    {"add_64", "vector add in tiles of 64 floats", floats_of_array, 8, 10},
    {"products", "products of 128 x 64 and 64 x 128 halfs", 200, 8, 1.5},
    {"scalars", "a loop over raw pointers", std::size_t{1} << 18, 8, 50},
};

// Commands of two streams that events order, so that the order of the host and its streams has something to compare.
constexpr std::size_t bytes_of_copy = 256;
constexpr std::size_t commands_of_round = 4092;
constexpr double goal_of_command = 1000;  // nanoseconds more

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

double time_commands(const Stream& one, const Stream& two, const aclrtEvent (&events)[2], const DeviceMemory& from,
                     const DeviceMemory& to) {
    const auto copy = [&](std::size_t round, const Stream& stream) {
        char* const target = static_cast<char*>(to.get()) + round % 64 * bytes_of_copy;
        BENCH_CHECK(aclrtMemcpyAsync(target, bytes_of_copy, from.get(), bytes_of_copy, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                     stream.get()));
    };
    const auto order = [](aclrtEvent event, const Stream& first, const Stream& second) {
        BENCH_CHECK(aclrtRecordEvent(event, first.get()));
        BENCH_CHECK(aclrtStreamWaitEvent(second.get(), event));
    };
    const std::uint64_t begin = now();
    for (std::size_t command = 0; command < commands_of_round; command += 6) {
        copy(command, one);
        order(events[0], one, two);
        copy(command, two);
        order(events[1], two, one);
    }
    const double submitted = static_cast<double>(now() - begin) / commands_of_round;
    BENCH_CHECK(aclrtSynchronizeDevice());
    return submitted;
}

// The medians of several children that take turns.
struct Turns {
    std::vector<nlohmann::ordered_json> plain, checked;
    static double time(const std::vector<nlohmann::ordered_json>& runs, const std::string& row) {
        std::vector<double> values;
        for (const auto& run : runs) values.push_back(run[row]["p50"]);
        return median(values);
    }
};

Turns take_child_turns(const Options& options) {
    Turns turns;
    for (int i = 0; i < options.rounds(5); ++i) {
        turns.plain.push_back(run_child("checking", "CANOPY_CHECK=", options));
        turns.checked.push_back(run_child("checking", "CANOPY_CHECK=race,memory,init,sync,host", options));
    }
    return turns;
}

}  // namespace

nlohmann::ordered_json child_checking(const Options& options) {
    BENCH_CHECK(aclInit(nullptr));
    BENCH_CHECK(aclrtSetDevice(0));
    nlohmann::ordered_json numbers;
    {
        const KernelImage kernels(CANOPY_BENCH_CHECKING);
        const Stream stream;
        const std::size_t bytes = floats_of_array * sizeof(float);
        const DeviceMemory x(bytes), y(bytes), z(bytes);
        std::vector<float> values(floats_of_array);
        fill(values.data(), floats_of_array, 1);
        for (const DeviceMemory* memory : {&x, &y, &z})
            BENCH_CHECK(aclrtMemcpy(memory->get(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        for (const Case& row : cases) {
            std::vector<Contender> contenders = {{row.kernel, [&] {
                                                      return time_each(1, 2, [&](std::size_t launches) {
                                                          for (std::size_t i = 0; i < launches; ++i)
                                                              kernels.run_blocks(row.kernel, row.blocks, stream,
                                                                                 x.get(), y.get(), z.get(), row.count);
                                                      });
                                                  }}};
            take_turns(contenders, options.rounds(8));
            numbers.update(to_json(contenders));
        }
        const Stream other;
        aclrtEvent events[2] = {};
        for (aclrtEvent& event : events) BENCH_CHECK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
        std::vector<Contender> commands = {{"commands", [&] { return time_commands(stream, other, events, x, y); }}};
        take_turns(commands, options.rounds(8));
        numbers.update(to_json(commands));
        for (aclrtEvent event : events) BENCH_CHECK(aclrtDestroyEvent(event));
    }
    BENCH_CHECK(aclrtResetDevice(0));
    BENCH_CHECK(aclFinalize());
    return numbers;
}

void measure_checking(Environment& environment) {
    const Turns turns = take_child_turns(environment.options);
    for (const Case& row : cases) {
        const double plain = Turns::time(turns.plain, row.kernel), checked = Turns::time(turns.checked, row.kernel);
        const double ratio = checked / plain;
        environment.report.add({fmt::format("check-{}", row.kernel),
                                fmt::format("checked: {}", row.what),
                                times_text(ratio),
                                fmt::format("<= {} x", row.goal),
                                fmt::format("not checked {}", nanoseconds_text(plain)),
                                "",
                                ratio <= row.goal ? Verdict::reached : Verdict::missed,
                                {{"checked", checked}, {"plain", plain}}});
    }
    const double plain = Turns::time(turns.plain, "commands"), checked = Turns::time(turns.checked, "commands");
    environment.report.add({"check-commands",
                            "checked: a command of two streams with events between them, until it is submitted",
                            nanoseconds_text(checked),
                            fmt::format("<= {} more", nanoseconds_text(goal_of_command)),
                            fmt::format("not checked {}", nanoseconds_text(plain)),
                            "",
                            checked - plain <= goal_of_command ? Verdict::reached : Verdict::missed,
                            {{"checked", checked}, {"plain", plain}}});
}

}  // namespace bench
