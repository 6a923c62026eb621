// SPDX-License-Identifier: Apache-2.0
// Launching the empty kernel with many blocks, each launch waited for, against an OpenMP loop over as many iterations.
#include <fmt/core.h>

#include "harness/topics.h"
#include "rivals/loops.h"

namespace bench {

void measure_launch_blocks(Environment& environment) {
    constexpr double goal = 3'000;
    constexpr std::size_t batch = 2'000;
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    for (const std::uint32_t blocks : {8u, 48u}) {
        FiveArguments arguments;
        const auto launches = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                launch_empty(function, stream, arguments, 1, blocks);
                stream.synchronise();
            }
        };
        const auto loops = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) loop_nothing(blocks);
        };
        std::vector<Contender> contenders = {{"Canopy", [&] { return time_each(200, batch, launches); }},
                                             {"OpenMP", [&] { return time_each(200, batch, loops); }}};
        take_turns(contenders, environment.options.rounds(40));
        const double time = contenders[0].summary().p50, rival = contenders[1].summary().p50;
        environment.report.add({fmt::format("launch-blocks-{}", blocks),
                                fmt::format("launch and synchronise, empty kernel of {} blocks", blocks),
                                nanoseconds_text(time), "<= 3 us", rivals_text(contenders, {}),
                                times_text(time / rival) + " of OpenMP",
                                time <= goal ? Verdict::reached : Verdict::missed, to_json(contenders)});
    }
}

}  // namespace bench
