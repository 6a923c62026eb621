// SPDX-License-Identifier: Apache-2.0
// The extra cost of kernel<<<...>>>(...) over launching the same kernel by its handle.
#include "runtime/launch_operator.h"

#include <fmt/core.h>

#include "harness/topics.h"

namespace bench {

void measure_launch_operator(Environment& environment) {
    constexpr std::size_t warm_up = 1'000, batch = 20'000;
    constexpr double goal = 20;
    const Stream stream;
    FiveArguments arguments;
    aclrtFuncHandle function = nullptr;
    BENCH_CHECK(aclrtGetFuncBySymbol(operator_kernel(), &function));
    const auto by_operator = [&](std::size_t count) {
        BENCH_CHECK(launch_by_operator(stream.get(), arguments.a, arguments.b, arguments.out, count));
        stream.synchronise();
    };
    const auto by_handle = [&](std::size_t count) {
        launch_empty(function, stream, arguments, count);
        stream.synchronise();
    };
    std::vector<Contender> contenders = {{"<<<>>>", [&] { return time_each(warm_up, batch, by_operator); }},
                                         {"WithHostArgs", [&] { return time_each(warm_up, batch, by_handle); }}};
    take_turns(contenders, environment.options.rounds(100));
    const double time = contenders[0].summary().p50, more = time - contenders[1].summary().p50;
    Row row{"launch-operator",
            "launch by <<<>>>, empty kernel, 5 arguments",
            nanoseconds_text(time),
            fmt::format("<= {:.0f} ns more than WithHostArgs", goal),
            rivals_text(contenders, {}),
            fmt::format("{:+.1f} ns", more),
            more <= goal ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
    row.numbers["more_than_by_handle"] = more;
    environment.report.add(std::move(row));
}

}  // namespace bench
