// SPDX-License-Identifier: Apache-2.0
// The time from the last instruction of a kernel to the first of a kernel on another stream that waits for it through
// an event. A chain alternates between two streams and is queued completely behind a kernel that holds it. There are
// two kinds:
//
//   both awake   each stream keeps working for a while after its record, when the other one is already waiting:
//                a thread is awake on each side, and the hop goes from one processor to the other
//   chain only   there is no other work, so one thread may serve both streams
#include <fmt/core.h>

#include "harness/topics.h"
#include "rivals/pocl.h"

namespace bench {
namespace {

constexpr std::size_t hops = 512;
constexpr std::size_t warm_up = 64;
constexpr double microsecond = 1'000;

// How long a kernel works before its stream records the event, and how long the stream stays busy after that.
struct Shape {
    double before;
    double after;
};
constexpr Shape both_awake = {6 * microsecond, 4 * microsecond};
constexpr Shape chain_only = {0, 0};

struct Hops {
    std::vector<double> times;
    std::size_t crossings = 0;  // hops where the second kernel ran on a different processor
};

class Chain {
public:
    Chain(Session& session, Shape shape)
        : shape_(shape),
          stamp_(session.function("stamp")),
          rest_(session.function("rest")),
          hold_(session.function("hold")),
          memory_((hops + 1) * sizeof(Stamp)),
          events_(hops) {
        for (aclrtEvent& event : events_) BENCH_CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    }
    ~Chain() {
        for (const aclrtEvent event : events_) aclrtDestroyEvent(event);
    }

    void run(Hops& out) {
        const std::uint64_t free_at = StampClock::read() + clock_.ticks(1'500 * microsecond);
        const std::uint64_t before = clock_.ticks(shape_.before), after = clock_.ticks(shape_.after);
        launch(hold_, streams_[0].get(), free_at);
        launch(stamp_, streams_[0].get(), memory_.get(), 0, before);
        for (std::size_t i = 0; i < hops; ++i) {
            const aclrtStream from = streams_[i % 2].get(), to = streams_[(i + 1) % 2].get();
            BENCH_CHECK(aclrtRecordEvent(events_[i], from));
            if (after != 0) launch(rest_, from, after);
            BENCH_CHECK(aclrtStreamWaitEvent(to, events_[i]));
            launch(stamp_, to, memory_.get(), i + 1, before);
        }
        for (const Stream& stream : streams_) stream.synchronise();
        const auto stamps = memory_.read<Stamp>();
        check_order(stamps, free_at);
        for (std::size_t i = warm_up; i < hops; ++i) {
            out.times.push_back(clock_.nanoseconds(stamps[i + 1].begin - stamps[i].end));
            out.crossings += stamps[i + 1].processor != stamps[i].processor;
        }
    }

private:
    Shape shape_;
    StampClock clock_;
    aclrtFuncHandle stamp_, rest_, hold_;
    Stream streams_[2];
    DeviceMemory memory_;
    std::vector<aclrtEvent> events_;
};

Row judge(const char* name, const char* what, const Hops& hops, const std::vector<double>& lines,
          const std::vector<double>& pocl) {
    const Summary hop = summarise(hops.times), line = summarise(lines), rival = summarise(pocl);
    const double ratio = line.p50 > 0 ? hop.p50 / line.p50 : 0;
    Row row{name,
            what,
            fmt::format("p50 {}, p99 {}", nanoseconds_text(hop.p50), nanoseconds_text(hop.p99)),
            "p50 <= 3 cache-line hops",
            "cache line " + nanoseconds_text(line.p50),
            times_text(ratio) + " a cache-line hop",
            line.p50 > 0 && ratio <= 3 ? Verdict::reached : Verdict::missed,
            {{"Canopy", to_json(hop)}, {"cache line", to_json(line)}, {"PoCL", to_json(rival)}}};
    row.numbers["share_between_processors"] = static_cast<double>(hops.crossings) / static_cast<double>(hop.samples);
    if (!pocl.empty()) row.rivals += "; PoCL " + nanoseconds_text(rival.p50);
    return row;
}

}  // namespace

void measure_hop(Environment& environment) {
    Chain awake(environment.session, both_awake), plain(environment.session, chain_only);
    const auto pocl = Pocl::open();
    const auto pocl_hop = [&] {
        return time_each(hops, hops, [&](std::size_t count) { pocl->enqueue_in_turn(count); });
    };
    Hops unused, awake_hops, plain_hops;
    awake.run(unused);
    plain.run(unused);
    std::vector<double> lines, pocl_times;
    const int rounds = environment.options.rounds(80);
    for (int round = 0; round < rounds; ++round) {
        awake.run(awake_hops);
        plain.run(plain_hops);
        if (pocl) pocl_times.push_back(pocl_hop());
        for (const double time : cache_line_hops(3)) lines.push_back(time);
    }
    environment.report.add(judge("hop", "hop from stream to stream by event, both awake", awake_hops, lines, {}));
    environment.report.add(judge("hop-chain", "the same, a chain and nothing else", plain_hops, lines, pocl_times));
}

}  // namespace bench
