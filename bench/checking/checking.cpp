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

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
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
        turns.checked.push_back(run_child("checking", "CANOPY_CHECK=race,memory,init,sync", options));
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
}

}  // namespace bench
