// SPDX-License-Identifier: Apache-2.0
// The time between the last instruction of a kernel and the first of the next one of the same stream. A first kernel
// holds the stream until all launches are queued, so that the device is measured, not the launch rate.
#include <fmt/core.h>

#include "harness/topics.h"

namespace bench {

void measure_gap(Environment& environment) {
    constexpr std::size_t kernels = 1'000;
    constexpr double holding_time = 1'000'000;
    const Stream stream;
    const StampClock clock;
    const aclrtFuncHandle stamp = environment.session.function("stamp");
    const aclrtFuncHandle hold = environment.session.function("hold");
    const DeviceMemory memory(kernels * sizeof(Stamp));
    std::vector<double> gaps;
    const int rounds = environment.options.rounds(100);
    for (int round = -1; round < rounds; ++round) {
        const std::uint64_t free_at = StampClock::read() + clock.ticks(holding_time);
        launch(hold, stream.get(), free_at);
        for (std::size_t i = 0; i < kernels; ++i) launch(stamp, stream.get(), memory.get(), i, 0);
        stream.synchronise();
        const auto stamps = memory.read<Stamp>();
        check_order(stamps, free_at);
        if (round < 0) continue;  // warm-up
        for (std::size_t i = 1; i < kernels; ++i)
            gaps.push_back(clock.nanoseconds(stamps[i].begin - stamps[i - 1].end));
    }
    const Summary summary = summarise(gaps);
    environment.report.add({"gap", "gap between two tasks of a stream",
                            fmt::format("p50 {}, p99 {}", nanoseconds_text(summary.p50), nanoseconds_text(summary.p99)),
                            "p50 <= 100 ns", "", "", summary.p50 <= 100 ? Verdict::reached : Verdict::missed,
                            to_json(summary)});
}

}  // namespace bench
