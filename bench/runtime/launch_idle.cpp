// SPDX-License-Identifier: Apache-2.0
// Launching on one stream while 1,900 others are alive, used once and idle, compared with launching without them. The
// two take turns: the others are created and destroyed several times.
#include <fmt/core.h>

#include "harness/topics.h"

namespace bench {

void measure_launch_idle(Environment& environment) {
    constexpr std::size_t others = 1'900;
    constexpr double noise = 1.1;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    const Stream stream;
    FiveArguments arguments;
    const auto round = [&] {
        return time_each(1'000, 20'000, [&](std::size_t count) {
            launch_empty(function, stream, arguments, count);
            stream.synchronise();
        });
    };
    std::vector<Contender> alone = {{"alone", round}}, crowded = {{"crowded", round}}, both = {{"alone"}, {"crowded"}};
    const auto keep = [](Contender& all, const Contender& some) {
        all.samples.insert(all.samples.end(), some.samples.begin(), some.samples.end());
    };
    const int turns = environment.options.rounds(12);
    for (int turn = 0; turn < turns; ++turn) {
        take_turns(alone, 5);
        keep(both[0], alone[0]);
        std::vector<Stream> idle;
        idle.reserve(others);
        for (std::size_t i = 0; i < others; ++i) {
            idle.emplace_back();
            launch_empty(function, idle.back(), arguments, 1);
        }
        BENCH_CHECK(aclrtSynchronizeDevice());
        take_turns(crowded, 5);
        keep(both[1], crowded[0]);
    }
    const double none = both[0].summary().p50, many = both[1].summary().p50;
    environment.report.add({"launch-idle", "launch with 1,900 other streams idle", nanoseconds_text(many),
                            "<= 1.1 x with none", "no others " + nanoseconds_text(none),
                            times_text(many / none) + " with none",
                            many <= noise * none ? Verdict::reached : Verdict::missed, to_json(both)});
}

}  // namespace bench
