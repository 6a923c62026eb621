// SPDX-License-Identifier: Apache-2.0
#include "harness/measure.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace bench {
namespace {

double percentile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return sorted[below] * (1 - share) + sorted[above] * share;
}

// Threads of a contender that has just finished may keep polling for work for a while; wait until they sleep.
void let_threads_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

void stay_on_processor(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

// The first two processors this process may use; -1 when there is only one.
std::pair<int, int> two_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    int first = -1;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &set)) continue;
        if (first >= 0) return {first, processor};
        first = processor;
    }
    return {first, -1};
}

}  // namespace

Summary summarise(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    return {percentile(values, 0.5), percentile(values, 0.99), values.front(), values.back(), values.size()};
}

std::uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void take_turns(std::vector<Contender>& contenders, int rounds) {
    for (Contender& contender : contenders) {
        contender.samples.clear();
        contender.round();
    }
    for (int round = 0; round < rounds; ++round) {
        for (Contender& contender : contenders) {
            let_threads_sleep();
            contender.samples.push_back(contender.round());
        }
    }
}

StampClock::StampClock() {
    const std::uint64_t begin = now();
    const std::uint64_t begin_ticks = read();
    while (now() - begin < 50'000'000) {
    }
    const std::uint64_t end = now();
    const std::uint64_t end_ticks = read();
    period_ = static_cast<double>(end - begin) / static_cast<double>(end_ticks - begin_ticks);
}

std::vector<double> cache_line_hops(int rounds) {
    constexpr std::uint64_t exchanges = 20'000;
    const auto [first, second] = two_processors();
    if (second < 0) return {};
    std::vector<double> hops;
    alignas(128) std::atomic<std::uint64_t> word{0};
    const std::uint64_t all = exchanges * static_cast<std::uint64_t>(rounds);
    std::thread partner([&, processor = second] {
        stay_on_processor(processor);
        for (std::uint64_t turn = 0; turn < all; ++turn) {
            while (word.load(std::memory_order_acquire) != 2 * turn + 1) {
            }
            word.store(2 * turn + 2, std::memory_order_release);
        }
    });
    std::thread starter([&, processor = first] {
        stay_on_processor(processor);
        std::uint64_t turn = 0;
        for (int round = 0; round < rounds; ++round) {
            const std::uint64_t begin = now();
            for (std::uint64_t i = 0; i < exchanges; ++i, ++turn) {
                word.store(2 * turn + 1, std::memory_order_release);
                while (word.load(std::memory_order_acquire) != 2 * turn + 2) {
                }
            }
            hops.push_back(static_cast<double>(now() - begin) / static_cast<double>(2 * exchanges));
        }
    });
    starter.join();
    partner.join();
    return hops;
}

}  // namespace bench
