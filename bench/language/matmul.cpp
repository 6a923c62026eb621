// SPDX-License-Identifier: Apache-2.0
// A matrix product of 2048 x 2048 x 2048 through the Matmul interface, in float against OpenBLAS on the same number of
// threads, in half, bfloat16 and int8 against float, and float and half against what the processors can do.
#include "language/matmul.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
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

// Small integers: exact in every type, and every sum is exact in float.
class Operand {
public:
    explicit Operand(unsigned seed) {
        std::mt19937 random(seed);
        for (std::size_t i = 0; i < elements; ++i) {
            const auto value = static_cast<int>(random() % 17) - 8;
            const auto number = static_cast<float>(value);
            put(MatmulElement::floats, i, number);
            put(MatmulElement::halves, i, aclFloatToFloat16(number));
            put(MatmulElement::bfloats, i, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16));
            put(MatmulElement::bytes, i, static_cast<std::int8_t>(value));
        }
    }
    [[nodiscard]] void* get(MatmulElement element) const { return memory_[static_cast<int>(element)].get(); }
    [[nodiscard]] const float* floats() const { return static_cast<const float*>(get(MatmulElement::floats)); }

private:
    template <class T>
    void put(MatmulElement element, std::size_t at, T value) {
        static_cast<T*>(get(element))[at] = value;
    }

    DeviceMemory memory_[4] = {DeviceMemory(4 * elements), DeviceMemory(2 * elements), DeviceMemory(2 * elements),
                               DeviceMemory(elements)};
};

class Ours {
public:
    Ours(MatmulElement element, const Operand& a, const Operand& b)
        : element_(element), a_(a), b_(b), plan_(plan_matmul(size, element)), tiling_(plan_.tiling.size()) {
        if (plan_.groups == 0) throw std::runtime_error("no tiling");
        BENCH_CHECK(aclrtMemcpy(tiling_.get(), plan_.tiling.size(), plan_.tiling.data(), plan_.tiling.size(),
                                ACL_MEMCPY_HOST_TO_DEVICE));
    }
    double round() {
        const std::uint64_t begin = now();
        BENCH_CHECK(
            launch_matmul(stream_.get(), plan_, element_, a_.get(element_), b_.get(element_), c_.get(), tiling_.get()));
        stream_.synchronise();
        return operations / static_cast<double>(now() - begin);
    }
    [[nodiscard]] std::vector<float> result() const {
        if (element_ != MatmulElement::bytes) return c_.read<float>();
        const std::vector<std::int32_t> sums = c_.read<std::int32_t>();
        return {sums.begin(), sums.end()};
    }

private:
    MatmulElement element_;
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
    const float *left = a.floats(), *right = b.floats();
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
    Ours floats(MatmulElement::floats, a, b), halves(MatmulElement::halves, a, b),
        bfloats(MatmulElement::bfloats, a, b), bytes(MatmulElement::bytes, a, b);
    for (Ours* each : {&floats, &halves, &bfloats, &bytes}) each->round();
    require_right(a, b, floats.result());
    require_same(floats.result(), halves.result(), "half");
    require_same(floats.result(), bfloats.result(), "bfloat16");
    require_same(floats.result(), bytes.result(), "int8");
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    std::vector<Contender> contenders = {{"Canopy", [&] { return floats.round(); }},
                                         {"half", [&] { return halves.round(); }},
                                         {"bfloat16", [&] { return bfloats.round(); }},
                                         {"int8", [&] { return bytes.round(); }},
                                         {"multiply-adds", [&] { return fma_limit(threads); }}};
    std::vector<float> result(elements);
    if (Blas::installed())
        contenders.push_back({"OpenBLAS", [&] {
                                  const std::uint64_t begin = now();
                                  Blas::multiply(threads, size, a.floats(), b.floats(), result.data());
                                  return operations / static_cast<double>(now() - begin);
                              }});
    take_turns(contenders, environment.options.rounds(12));
    if (Blas::installed()) require_same(floats.result(), result, "float");

    const auto speed = [&](int index) { return contenders[static_cast<std::size_t>(index)].summary().p50; };
    const double ours = speed(0), narrow = speed(1);
    Row row{"matmul",          "matrix product through Matmul, 2048 cubed, float",
            speed_text(ours),  ">= 0.95 x OpenBLAS",
            "missing",         "",
            Verdict::no_rival, to_json(contenders)};
    if (Blas::installed()) {
        const double rival = speed(5);
        row.rivals = fmt::format("{} {}", Blas::version(), speed_text(rival));
        row.ratio = times_text(ours / rival) + " OpenBLAS";
        row.verdict = ours >= 0.95 * rival ? Verdict::reached : Verdict::missed;
    }
    environment.report.add(std::move(row));
    const auto beside_float = [&](const char* name, const char* what, double value, double goal) {
        environment.report.add({name, what, speed_text(value), fmt::format(">= {} x float", goal), "",
                                times_text(value / ours) + " float",
                                value >= goal * ours ? Verdict::reached : Verdict::missed, to_json(contenders)});
    };
    beside_float("matmul-half", "the same in half, summed in float", narrow, 1);
    beside_float("matmul-bfloat16", "the same in bfloat16, summed in float", speed(2), 1);
    const bool instructions = __builtin_cpu_supports("avx512vnni") != 0;
    beside_float("matmul-int8",
                 instructions ? "the same in int8, summed in int32"
                              : "the same in int8 (the processor has no instructions for it)",
                 speed(3), instructions ? 2 : 1);
    const double limit = speed(4), share = std::min(ours, narrow) / limit;
    environment.report.add({"matmul-limit", "both beside multiply-adds on registers alone",
                            fmt::format("{}, half {}", speed_text(ours), speed_text(narrow)),
                            ">= 0.75 x the multiply-adds", fmt::format("multiply-adds {}", speed_text(limit)),
                            fmt::format("{:.2f} x, half {:.2f} x", ours / limit, narrow / limit),
                            share >= 0.75 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

}  // namespace bench
