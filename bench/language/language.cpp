// SPDX-License-Identifier: Apache-2.0
// Kernels written in the kernel language against plain OpenMP loops and PoCL on the same number of threads, and the
// time canopy-cc takes for a kernel file of a hundred lines.
#include <fmt/core.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

#include "harness/topics.h"
#include "rivals/loops.h"
#include "rivals/pocl.h"

namespace bench {
namespace {

constexpr std::size_t add_count = std::size_t{64} << 20;
constexpr std::size_t rows = 4096, columns = 4096;
constexpr std::uint32_t blocks = 8;

// The image of language_kernels.cpp.
class Kernels {
public:
    Kernels() { BENCH_CHECK(aclrtBinaryLoadFromFile(CANOPY_BENCH_LANGUAGE, nullptr, &binary_)); }
    ~Kernels() { aclrtBinaryUnLoad(binary_); }
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    template <class... Values>
    void run(const char* name, const Stream& stream, Values... values) const {
        aclrtFuncHandle function = nullptr;
        BENCH_CHECK(aclrtBinaryGetFunction(binary_, name, &function));
        std::uint64_t slots[] = {(std::uint64_t)(values)...};
        BENCH_CHECK(
            aclrtLaunchKernelWithHostArgs(function, blocks, stream.get(), nullptr, slots, sizeof(slots), nullptr, 0));
        stream.synchronise();
    }

private:
    aclrtBinHandle binary_ = nullptr;
};

void fill(void* memory, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    auto* values = static_cast<float*>(memory);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random() % 2001) / 500.0f - 2.0f;
}

// Device memory of the software NPU is memory of this process, so the rivals use the same pages.
float* floats(const DeviceMemory& memory) { return static_cast<float*>(memory.get()); }

void require_close(const std::vector<float>& ours, const float* theirs, const char* what) {
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (!(std::abs(ours[i] - theirs[i]) <= 1e-5f * (1 + std::abs(theirs[i]))))
            throw std::runtime_error(
                fmt::format("{}: element {} is {}, the loop says {}", what, i, ours[i], theirs[i]));
}

// The fastest rival by median. The values are rates, so larger is better.
const Contender& best_rival(const std::vector<Contender>& contenders) {
    const Contender* best = &contenders[1];
    for (std::size_t i = 2; i < contenders.size(); ++i)
        if (contenders[i].summary().p50 > best->summary().p50) best = &contenders[i];
    return *best;
}

void add_rate_row(Environment& environment, const char* name, const char* what, std::vector<Contender>& contenders,
                  double goal) {
    const Summary ours = contenders[0].summary();
    const Contender& best = best_rival(contenders);
    const double ratio = ours.p50 / best.summary().p50;
    std::string rivals;
    for (std::size_t i = 1; i < contenders.size(); ++i)
        rivals += (i > 1 ? "; " : "") + contenders[i].name + " " + rate_text(contenders[i].summary().p50);
    environment.report.add({name, what, rate_text(ours.p50), fmt::format(">= {:.1f} x {}", goal, best.name), rivals,
                            times_text(ratio) + " " + best.name, ratio >= goal ? Verdict::reached : Verdict::missed,
                            to_json(contenders)});
}

template <class Work>
Contender rate(const char* name, double bytes, Work work) {
    return {name, [=] {
                const std::uint64_t begin = now();
                work();
                return bytes / static_cast<double>(now() - begin);
            }};
}

void measure_add(Environment& environment, const Kernels& kernels, const Stream& stream) {
    const std::size_t size = add_count * sizeof(float);
    DeviceMemory x(size), y(size), z(size), expected(size);
    fill(x.get(), add_count, 1);
    fill(y.get(), add_count, 2);
    std::memset(z.get(), 0, size);
    kernels.run("vector_add", stream, x.get(), y.get(), z.get(), add_count);
    loop_vector_add(floats(x), floats(y), floats(expected), add_count);
    if (std::memcmp(z.get(), expected.get(), size) != 0) throw std::runtime_error("vector_add: wrong sums");
    std::vector<Contender> contenders = {
        rate("Canopy", 3.0 * static_cast<double>(size),
             [&] { kernels.run("vector_add", stream, x.get(), y.get(), z.get(), add_count); }),
        rate("OpenMP", 3.0 * static_cast<double>(size),
             [&] { loop_vector_add(floats(x), floats(y), floats(z), add_count); })};
    const std::unique_ptr<Pocl> pocl = Pocl::open();
    if (pocl) {
        pocl->share(floats(x), floats(y), floats(z), add_count);
        contenders.push_back(rate("PoCL", 3.0 * static_cast<double>(size), [&] { pocl->add_shared(); }));
    }
    take_turns(contenders, environment.options.rounds(12));
    add_rate_row(environment, "vector-add", "vector add, 64 Mi floats, double-buffered kernel", contenders, 0.9);
}

void measure_rows(Environment& environment, const Kernels& kernels, const Stream& stream) {
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
    const Kernels kernels;
    const Stream stream;
    measure_add(environment, kernels, stream);
    measure_rows(environment, kernels, stream);
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
