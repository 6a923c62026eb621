// SPDX-License-Identifier: Apache-2.0
// A matrix product of 2048 x 2048 x 2048 through the Matmul interface, in float against OpenBLAS on the same number of
// threads, in half against float, and both against what the processors can do.
#include "language/matmul.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <thread>

#include "harness/topics.h"
#include "rivals/blas.h"
#include "rivals/fma_limit.h"

namespace bench {
namespace {

constexpr int size = 2048;
constexpr std::size_t elements = std::size_t{size} * size;
constexpr double operations = 2.0 * size * size * size;

std::string speed_text(double per_nanosecond) { return fmt::format("{:.1f} Gflop/s", per_nanosecond); }

// Small integers: exact in half, and every sum is exact in float.
void fill(float* values, unsigned seed) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<float>(static_cast<int>(random() % 17) - 8);
}

class Operand {
public:
    explicit Operand(unsigned seed) : floats_(elements * sizeof(float)), halves_(elements * sizeof(std::uint16_t)) {
        auto* values = static_cast<float*>(floats_.get());
        fill(values, seed);
        auto* narrow = static_cast<std::uint16_t*>(halves_.get());
        for (std::size_t i = 0; i < elements; ++i) narrow[i] = aclFloatToFloat16(values[i]);
    }
    [[nodiscard]] void* get(bool halves) const { return halves ? halves_.get() : floats_.get(); }

private:
    DeviceMemory floats_;
    DeviceMemory halves_;
};

class Ours {
public:
    Ours(bool halves, const Operand& a, const Operand& b)
        : halves_(halves), a_(a), b_(b), plan_(plan_matmul(size, halves)), tiling_(plan_.tiling.size()) {
        if (plan_.groups == 0) throw std::runtime_error("no tiling");
        BENCH_CHECK(aclrtMemcpy(tiling_.get(), plan_.tiling.size(), plan_.tiling.data(), plan_.tiling.size(),
                                ACL_MEMCPY_HOST_TO_DEVICE));
    }
    double round() {
        const std::uint64_t begin = now();
        BENCH_CHECK(
            launch_matmul(stream_.get(), plan_, halves_, a_.get(halves_), b_.get(halves_), c_.get(), tiling_.get()));
        stream_.synchronise();
        return operations / static_cast<double>(now() - begin);
    }
    [[nodiscard]] std::vector<float> result() const { return c_.read<float>(); }

private:
    bool halves_;
    const Operand& a_;
    const Operand& b_;
    MatmulPlan plan_;
    DeviceMemory tiling_;
    DeviceMemory c_{elements * sizeof(float)};
    Stream stream_;
};

void require_same(const std::vector<float>& left, const std::vector<float>& right, const char* what) {
    if (left != right) throw std::runtime_error(fmt::format("the product in {} is wrong", what));
}

// Checks one element against its definition, in case there is no rival to compare with.
void require_right(const Operand& a, const Operand& b, const std::vector<float>& result) {
    const auto* left = static_cast<const float*>(a.get(false));
    const auto* right = static_cast<const float*>(b.get(false));
    for (const int at : {0, 777, size - 1}) {
        double sum = 0;
        for (int k = 0; k < size; ++k)
            sum += static_cast<double>(left[at * size + k]) * right[k * size + size - 1 - at];
        if (sum != result[static_cast<std::size_t>(at) * size + size - 1 - at])
            throw std::runtime_error("the product in float is wrong");
    }
}

}  // namespace

void measure_matmul(Environment& environment) {
    const Operand a(1), b(2);
    Ours floats(false, a, b), halves(true, a, b);
    floats.round();
    halves.round();
    require_right(a, b, floats.result());
    require_same(floats.result(), halves.result(), "half");
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    std::vector<Contender> contenders = {{"Canopy", [&] { return floats.round(); }},
                                         {"half", [&] { return halves.round(); }},
                                         {"multiply-adds", [&] { return fma_limit(threads); }}};
    std::vector<float> result(elements);
    if (Blas::installed())
        contenders.push_back({"OpenBLAS", [&] {
                                  const std::uint64_t begin = now();
                                  Blas::multiply(threads, size, static_cast<const float*>(a.get(false)),
                                                 static_cast<const float*>(b.get(false)), result.data());
                                  return operations / static_cast<double>(now() - begin);
                              }});
    take_turns(contenders, environment.options.rounds(12));
    if (Blas::installed()) require_same(floats.result(), result, "float");

    const double ours = contenders[0].summary().p50, narrow = contenders[1].summary().p50;
    Row row{"matmul",          "matrix product through Matmul, 2048 cubed, float",
            speed_text(ours),  ">= 0.6 x OpenBLAS",
            "missing",         "",
            Verdict::no_rival, to_json(contenders)};
    if (Blas::installed()) {
        const double rival = contenders[3].summary().p50;
        row.rivals = fmt::format("{} {}", Blas::version(), speed_text(rival));
        row.ratio = times_text(ours / rival) + " OpenBLAS";
        row.verdict = ours >= 0.6 * rival ? Verdict::reached : Verdict::missed;
    }
    environment.report.add(std::move(row));
    environment.report.add({"matmul-half", "the same in half, summed in float", speed_text(narrow), ">= 1 x float", "",
                            times_text(narrow / ours) + " float", narrow >= ours ? Verdict::reached : Verdict::missed,
                            to_json(contenders)});
    const double limit = contenders[2].summary().p50, share = std::min(ours, narrow) / limit;
    environment.report.add({"matmul-limit", "both beside multiply-adds on registers alone",
                            fmt::format("{}, half {}", speed_text(ours), speed_text(narrow)),
                            ">= 0.75 x the multiply-adds", fmt::format("multiply-adds {}", speed_text(limit)),
                            fmt::format("{:.2f} x, half {:.2f} x", ours / limit, narrow / limit),
                            share >= 0.75 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

}  // namespace bench
