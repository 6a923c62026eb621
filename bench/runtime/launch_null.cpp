// SPDX-License-Identifier: Apache-2.0
// The cost of the interface itself: launching on the null device, which accepts everything and does nothing. The kind
// of device is fixed when a process starts, so a child process measures it.
#include "harness/child.h"
#include "harness/topics.h"

namespace bench {

nlohmann::ordered_json child_launch(const Options& options) {
    const Session session;
    const Stream stream;
    const aclrtFuncHandle function = session.function("empty_five");
    FiveArguments arguments;
    std::vector<Contender> contenders = {{"Canopy", [&] {
                                              return time_each(1'000, 20'000, [&](std::size_t count) {
                                                  launch_empty(function, stream, arguments, count);
                                              });
                                          }}};
    take_turns(contenders, options.rounds(80));
    return to_json(contenders);
}

void measure_launch_null(Environment& environment) {
    const auto numbers = run_child("launch", "CANOPY_DEVICE=null", environment.options);
    const double time = numbers["Canopy"]["p50"];
    environment.report.add({"launch-null", "the interface's own cost of a launch (null device)", nanoseconds_text(time),
                            "<= 50 ns", "", "", time <= 50 ? Verdict::reached : Verdict::missed, numbers});
}

}  // namespace bench
