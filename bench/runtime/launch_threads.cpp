// SPDX-License-Identifier: Apache-2.0
// Launches from eight host threads, each on its own stream, compared with the same number from one thread on one
// stream.
#include <fmt/core.h>

#include <barrier>
#include <thread>

#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t thread_count = 8;
constexpr std::size_t each = 10'000;

// Eight threads that wait for the start of a round, launch, synchronise and report that they are done.
class Launchers {
public:
    explicit Launchers(aclrtFuncHandle function)
        : function_(function), start_(thread_count + 1), end_(thread_count + 1) {
        for (std::size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { work(); });
    }
    ~Launchers() {
        leaving_ = true;
        start_.arrive_and_wait();
        for (std::thread& thread : threads_) thread.join();
    }
    void run(std::size_t count) {
        count_ = count;
        start_.arrive_and_wait();
        end_.arrive_and_wait();
        if (failures_) throw std::runtime_error("a launching thread failed");
    }

private:
    void work() {
        aclrtSetDevice(0);
        const Stream stream;
        FiveArguments arguments;
        for (;;) {
            start_.arrive_and_wait();
            if (leaving_) return;
            try {
                launch_empty(function_, stream, arguments, count_);
                stream.synchronise();
            } catch (const std::exception&) {
                ++failures_;
            }
            end_.arrive_and_wait();
        }
    }

    aclrtFuncHandle function_;
    std::barrier<> start_, end_;
    std::size_t count_ = 0;  // written before a round starts
    bool leaving_ = false;   // likewise
    std::atomic<int> failures_{0};
    std::vector<std::thread> threads_;
};

}  // namespace

void measure_launch_threads(Environment& environment) {
    const aclrtFuncHandle function = environment.session.function("empty_five");
    const Stream stream;
    FiveArguments arguments;
    Launchers launchers(function);
    std::vector<Contender> contenders = {
        {"8 threads",
         [&] {
             return time_each(thread_count * each / 10, thread_count * each,
                              [&](std::size_t count) { launchers.run(count / thread_count); });
         }},
        {"1 thread", [&] {
             return time_each(thread_count * each / 10, thread_count * each, [&](std::size_t count) {
                 launch_empty(function, stream, arguments, count);
                 stream.synchronise();
             });
         }}};
    take_turns(contenders, environment.options.rounds(60));
    const double eight = contenders[0].summary().p50, one = contenders[1].summary().p50;
    environment.report.add({"launch-threads", "launches from 8 threads on 8 streams",
                            fmt::format("{:.1f} M/s", 1e3 / eight), "total rate >= 1 thread's",
                            fmt::format("1 thread {:.1f} M/s", 1e3 / one), times_text(one / eight) + " one thread",
                            eight <= one ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

}  // namespace bench
