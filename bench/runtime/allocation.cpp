// SPDX-License-Identifier: Apache-2.0
// aclrtMalloc plus aclrtFree of 1 MiB, with no other and with 100,000 other live allocations.
#include <random>

#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

double pair_time() {
    return time_each(500, 5'000, [](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            void* memory = nullptr;
            BENCH_CHECK(aclrtMalloc(&memory, mebibyte, ACL_MEM_MALLOC_HUGE_FIRST));
            BENCH_CHECK(aclrtFree(memory));
        }
    });
}

// Allocations of 512 bytes to 16 KiB, every fourth one freed again to leave holes.
class LiveAllocations {
public:
    explicit LiveAllocations(std::size_t count) {
        std::mt19937 random(1);
        std::vector<void*> holes;
        while (live_.size() < count) {
            live_.push_back(allocate(512 + random() % (16 << 10)));
            if (live_.size() % 4 == 0) holes.push_back(allocate(512 + random() % (16 << 10)));
        }
        for (void* hole : holes) BENCH_CHECK(aclrtFree(hole));
    }
    ~LiveAllocations() {
        for (void* memory : live_) aclrtFree(memory);
    }

private:
    static void* allocate(std::size_t size) {
        void* memory = nullptr;
        BENCH_CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
        return memory;
    }
    std::vector<void*> live_;
};

Row row(const char* name, const char* what, const std::vector<Contender>& contenders) {
    const double time = contenders[0].summary().p50;
    return {name,
            what,
            nanoseconds_text(time),
            "<= 250 ns",
            "",
            "",
            time <= 250 ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
}

}  // namespace

void measure_allocation(Environment& environment) {
    std::vector<Contender> contenders = {{"Canopy", pair_time}};
    take_turns(contenders, environment.options.rounds(80));
    environment.report.add(row("malloc", "malloc and free of 1 MiB, warm", contenders));
    const LiveAllocations live(100'000);
    take_turns(contenders, environment.options.rounds(80));
    environment.report.add(row("malloc-live", "the same with 100,000 live allocations", contenders));
}

}  // namespace bench
