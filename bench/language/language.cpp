// SPDX-License-Identifier: Apache-2.0
// Kernels written in the kernel language against plain OpenMP loops and PoCL on the same number of threads, single
// operations of the language, and the time canopy-cc takes for a kernel file of a hundred lines.
#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>

#include "harness/child.h"
#include "language/rates.h"
#include "rivals/intrinsics.h"
#include "rivals/loops.h"
#include "rivals/pocl.h"

namespace bench {
namespace {

constexpr std::size_t add_count = std::size_t{64} << 20;
constexpr std::size_t rows = 4096, columns = 4096;

void measure_add(Environment& environment, const KernelImage& kernels, const Stream& stream) {
    const std::size_t size = add_count * sizeof(float);
    DeviceMemory x(size), y(size), z(size), expected(size);
    fill(x.get(), add_count, 1);
    fill(y.get(), add_count, 2);
    loop_vector_add(floats(x), floats(y), floats(expected), add_count);
    const std::unique_ptr<Pocl> pocl = Pocl::open();
    if (pocl) pocl->share(floats(x), floats(y), floats(z), add_count);
    const auto measure = [&](const char* kernel, const char* name, const char* what) {
        const auto run = [&, kernel] { kernels.run(kernel, stream, x.get(), y.get(), z.get(), add_count); };
        std::memset(z.get(), 0, size);
        run();
        if (std::memcmp(z.get(), expected.get(), size) != 0)
            throw std::runtime_error(fmt::format("{}: wrong sums", kernel));
        std::vector<Contender> contenders = {rate("Canopy", 3.0 * static_cast<double>(size), run),
                                             rate("OpenMP", 3.0 * static_cast<double>(size), [&] {
                                                 loop_vector_add(floats(x), floats(y), floats(z), add_count);
                                             })};
        if (pocl) contenders.push_back(rate("PoCL", 3.0 * static_cast<double>(size), [&] { pocl->add_shared(); }));
        take_turns(contenders, environment.options.rounds(12));
        add_rate_row(environment, name, what, contenders, 0.9);
    };
    measure("vector_add", "vector-add", "vector add, 64 Mi floats, double-buffered kernel");
    measure("vector_add_short_tiles", "vector-add-short", "the same in tiles of 128 floats");
}

void measure_rows(Environment& environment, const KernelImage& kernels, const Stream& stream) {
    const std::size_t size = rows * columns * sizeof(float);
    DeviceMemory x(size), y(size), expected(size), gamma(columns * sizeof(float)), beta(columns * sizeof(float));
    fill(x.get(), rows * columns, 3);
    fill(gamma.get(), columns, 4);
    fill(beta.get(), columns, 5);
    loop_softmax(floats(x), floats(expected), rows, columns);
    kernels.run("softmax", stream, x.get(), y.get(), rows);
    require_close(y.read<float>(), floats(expected), "softmax");
    std::vector<Contender> softmax = {
        rate("Canopy", 2.0 * static_cast<double>(size),
             [&] { kernels.run("softmax", stream, x.get(), y.get(), rows); }),
        rate("OpenMP", 2.0 * static_cast<double>(size), [&] { loop_softmax(floats(x), floats(y), rows, columns); })};
    take_turns(softmax, environment.options.rounds(12));
    add_rate_row(environment, "softmax", "softmax, 4,096 rows of 4,096 floats", softmax, 0.8);

    loop_layer_norm(floats(x), floats(expected), floats(gamma), floats(beta), rows, columns);
    kernels.run("layer_norm", stream, x.get(), y.get(), gamma.get(), beta.get(), rows);
    require_close(y.read<float>(), floats(expected), "layer_norm");
    std::vector<Contender> norm = {
        rate("Canopy", 2.0 * static_cast<double>(size),
             [&] { kernels.run("layer_norm", stream, x.get(), y.get(), gamma.get(), beta.get(), rows); }),
        rate("OpenMP", 2.0 * static_cast<double>(size),
             [&] { loop_layer_norm(floats(x), floats(y), floats(gamma), floats(beta), rows, columns); })};
    take_turns(norm, environment.options.rounds(12));
    add_rate_row(environment, "layer-norm", "layer norm, 4,096 rows of 4,096 floats", norm, 0.8);
}

// The kernel is for a chip with register functions, so a child process with a device of that kind runs it.
void measure_registers(Environment& environment) {
    const auto numbers = run_child("registers", "CANOPY_CHIP=Ascend950PR_9599", environment.options);
    const double ours = numbers["Canopy"]["p50"], intrinsics = numbers["intrinsics"]["p50"];
    environment.report.add({"layer-norm-registers", "the same with register functions", rate_text(ours),
                            ">= 1.0 x intrinsics", "intrinsics " + rate_text(intrinsics),
                            times_text(ours / intrinsics) + " intrinsics",
                            ours >= intrinsics ? Verdict::reached : Verdict::missed, numbers});
}

nlohmann::ordered_json compare_registers(const Options& options) {
    const KernelImage kernels(CANOPY_BENCH_REGISTERS);
    const Stream stream;
    const std::size_t size = rows * columns * sizeof(float);
    DeviceMemory x(size), y(size), expected(size), gamma(columns * sizeof(float)), beta(columns * sizeof(float));
    fill(x.get(), rows * columns, 3);
    fill(gamma.get(), columns, 4);
    fill(beta.get(), columns, 5);
    loop_layer_norm(floats(x), floats(expected), floats(gamma), floats(beta), rows, columns);
    const auto run = [&] {
        kernels.run("layer_norm_registers", stream, x.get(), y.get(), gamma.get(), beta.get(), rows);
    };
    run();
    require_close(y.read<float>(), floats(expected), "layer_norm_registers");
    std::vector<Contender> contenders = {
        rate("Canopy", 2.0 * static_cast<double>(size), run), rate("intrinsics", 2.0 * static_cast<double>(size), [&] {
            intrinsics_layer_norm(floats(x), floats(y), floats(gamma), floats(beta), rows, columns);
        })};
    take_turns(contenders, options.rounds(12));
    return to_json(contenders);
}

void measure_barriers(Environment& environment, const KernelImage& kernels, const Stream& stream) {
    constexpr std::size_t count = 1'000'000;
    const auto each = [&](const char* name, const char* kernel) {
        return Contender{name, [&, kernel] {
                             return time_each(count / 10, count, [&](std::size_t barriers) {
                                 kernels.run_blocks(kernel, 1, stream, barriers);
                             });
                         }};
    };
    std::vector<Contender> contenders = {each("PIPE_V", "barriers_of_vector_pipe"),
                                         each("PIPE_ALL", "barriers_of_all_pipes")};
    take_turns(contenders, environment.options.rounds(12));
    const double vector = contenders[0].summary().p50, all = contenders[1].summary().p50;
    environment.report.add({"pipe-barrier", "PipeBarrier of the vector pipe, of all pipes",
                            fmt::format("{}, {}", nanoseconds_text(vector), nanoseconds_text(all)), "<= 1 ns", "", "",
                            vector <= 1 && all <= 1 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

double seconds_to_compile(const char* output) {
    const std::string command =
        fmt::format("'{}' -c -O2 -o '{}' '{}'", CANOPY_BENCH_COMPILER, output, CANOPY_BENCH_SOURCE);
    const std::uint64_t begin = now();
    const int status = std::system(command.c_str());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("this command failed: " + command);
    return static_cast<double>(now() - begin) * 1e-9;
}

}  // namespace

void measure_language(Environment& environment) {
    const KernelImage kernels(CANOPY_BENCH_LANGUAGE);
    const Stream stream;
    // First: once a kernel of the image has bypassed the caches, a barrier of all pipes looks for such stores.
    measure_barriers(environment, kernels, stream);
    measure_add(environment, kernels, stream);
    measure_rows(environment, kernels, stream);
    measure_registers(environment);
}

nlohmann::ordered_json child_registers(const Options& options) {
    // Not a Session, which loads kernels for the usual chip.
    BENCH_CHECK(aclInit(nullptr));
    BENCH_CHECK(aclrtSetDevice(0));
    auto numbers = compare_registers(options);
    aclrtResetDevice(0);
    aclFinalize();
    return numbers;
}

void measure_compile(Environment& environment) {
    char output[] = "/tmp/canopy-bench-XXXXXX";
    const int file = mkstemp(output);
    if (file < 0) throw std::runtime_error("cannot make a temporary file");
    std::vector<double> samples;
    for (int i = 0; i < environment.options.rounds(8) + 1; ++i) samples.push_back(seconds_to_compile(output));
    std::remove(output);
    samples.erase(samples.begin());
    const Summary ours = summarise(samples);
    environment.report.add({"compile",
                            "canopy-cc of a kernel file with 100 lines",
                            fmt::format("{:.2f} s", ours.p50),
                            "<= 3 s",
                            "",
                            "",
                            ours.p50 <= 3 ? Verdict::reached : Verdict::missed,
                            {{"Canopy", to_json(ours)}}});
}

}  // namespace bench
