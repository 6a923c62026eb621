// SPDX-License-Identifier: Apache-2.0
// Kernels on the device's CPU cores: the cost of launching an empty one compared with an empty AI core kernel, with one
// block and with several, and the time from the bytes of a library to the end of its first launch.
#include <fmt/core.h>

#include <cstring>

#include "cpu/cpu_binary.h"
#include "cpu/cpu_image.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t warm_up = 1'000;

Row against_ai_core(const char* name, std::string what, const std::vector<Contender>& contenders, double goal) {
    const double ours = contenders[0].summary().p50, core = contenders[1].summary().p50;
    Row row{name,
            std::move(what),
            nanoseconds_text(ours),
            fmt::format("<= {:.1f} x an AI-core kernel", goal),
            rivals_text(contenders, {}),
            times_text(ours / core),
            ours <= goal * core ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
    row.numbers["ratio"] = ours / core;
    return row;
}

void measure_launches(Environment& environment, const CpuBinary& binary) {
    const Stream stream;
    FiveArguments arguments;
    const aclrtFuncHandle own = binary.function("empty_cpu_kernel"), other = environment.session.function("empty_five");
    const auto sustained = [&](aclrtFuncHandle function) {
        return [&, function] {
            return time_each(warm_up, 20'000, [&](std::size_t count) {
                launch_empty(function, stream, arguments, count);
                stream.synchronise();
            });
        };
    };
    std::vector<Contender> contenders = {{"CPU kernel", sustained(own)}, {"AI-core kernel", sustained(other)}};
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(against_ai_core("cpu-launch", "launch of an empty CPU kernel, sustained", contenders, 1.5));

    const auto one_by_one = [&](aclrtFuncHandle function) {
        return [&, function] {
            return time_each(warm_up, 5'000, [&](std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                    launch_empty(function, stream, arguments, 1);
                    stream.synchronise();
                }
            });
        };
    };
    contenders = {{"CPU kernel", one_by_one(own)}, {"AI-core kernel", one_by_one(other)}};
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(
        against_ai_core("cpu-launch-synchronise", "the same, launch and synchronise", contenders, 1.5));
}

// Launch and synchronise, with `blocks` blocks per launch.
template <class Arguments>
std::function<double()> launches_of_blocks(aclrtFuncHandle function, const Stream& stream, std::uint32_t blocks,
                                           Arguments arguments, std::size_t batch) {
    return [=, &stream] {
        return time_each(batch / 10, batch, [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                Arguments own = arguments;
                BENCH_CHECK(aclrtLaunchKernelWithHostArgs(function, blocks, stream.get(), nullptr, &own, sizeof(own),
                                                          nullptr, 0));
                stream.synchronise();
            }
        });
    };
}

void measure_blocks(Environment& environment, const CpuBinary& binary) {
    const Stream stream;
    const aclrtFuncHandle own = binary.function("empty_cpu_kernel");
    const aclrtFuncHandle other = environment.session.function("empty_five");
    for (const std::uint32_t blocks : {4u, 8u}) {
        std::vector<Contender> contenders = {
            {"CPU kernel", launches_of_blocks(own, stream, blocks, FiveArguments{}, 2'000)},
            {"AI-core kernel", launches_of_blocks(other, stream, blocks, FiveArguments{}, 2'000)}};
        take_turns(contenders, environment.options.rounds(40));
        environment.report.add(
            against_ai_core("cpu-blocks", fmt::format("the same with {} blocks", blocks), contenders, 1.5));
    }
}

void measure_barrier(Environment& environment, const CpuBinary& binary) {
    const Stream stream;
    const aclrtFuncHandle meet = binary.function("barrier_cpu_kernel");
    const DeviceMemory counter(64);
    for (const std::uint32_t blocks : {2u, 4u}) {
        BENCH_CHECK(aclrtMemset(counter.get(), 64, 0, 64));
        const Meeting meeting{static_cast<std::uint64_t*>(counter.get()), blocks};
        std::vector<Contender> contenders = {{"CPU kernel", launches_of_blocks(meet, stream, blocks, meeting, 200)}};
        take_turns(contenders, environment.options.rounds(40));
        const Summary time = contenders[0].summary();
        environment.report.add({"cpu-barrier", fmt::format("{} blocks of a CPU kernel meet in a barrier", blocks),
                                nanoseconds_text(time.p50), "none set", "", "", Verdict::no_rival,
                                to_json(contenders)});
    }
}

// Every round loads different bytes: a number after the last section, which the loader ignores.
void measure_load(Environment& environment, std::string bytes) {
    const Stream stream;
    FiveArguments arguments;
    std::uint64_t number = 0;
    bytes.append(sizeof(number), '\0');
    std::vector<Contender> contenders = {{"Canopy", [&] {
                                              ++number;
                                              std::memcpy(bytes.data() + bytes.size() - sizeof(number), &number,
                                                          sizeof(number));
                                              const std::uint64_t begin = now();
                                              const CpuBinary binary(bytes);
                                              launch_empty(binary.function("empty_cpu_kernel"), stream, arguments, 1);
                                              stream.synchronise();
                                              return static_cast<double>(now() - begin);
                                          }}};
    take_turns(contenders, environment.options.rounds(100));
    const Summary time = contenders[0].summary();
    environment.report.add({"cpu-load", "from the bytes of a library of 1 MiB to the end of its first launch",
                            fmt::format("p50 {:.2f} ms, p99 {:.2f} ms", time.p50 / 1e6, time.p99 / 1e6), "<= 2 ms", "",
                            "", time.p50 <= 2e6 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

}  // namespace

void measure_cpu_kernel(Environment& environment) {
    const CpuBinary binary(file_bytes(CANOPY_BENCH_CPU_IMAGE));
    measure_launches(environment, binary);
}

void measure_cpu_kernel_blocks(Environment& environment) {
    const CpuBinary binary(file_bytes(CANOPY_BENCH_CPU_IMAGE));
    measure_blocks(environment, binary);
    measure_barrier(environment, binary);
}

void measure_cpu_kernel_load(Environment& environment) {
    measure_load(environment, file_bytes(CANOPY_BENCH_CPU_IMAGE));
}

}  // namespace bench
