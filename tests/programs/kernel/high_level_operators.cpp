// SPDX-License-Identifier: Apache-2.0
// Five operators of the kind users write with the high-level functions: Gelu, a gated activation, powers with bounds,
// running sums and reductions of a matrix.
#include "check.h"

#include <cmath>

namespace {

constexpr std::uint32_t blocks = 4, count = 16 * 1024;

class Operators {
public:
    // Runs an operator on x and y; the results are in host memory.
    template <class T>
    std::vector<T> run(const char* name, const std::vector<T>& x, const std::vector<T>& y) {
        T *on_x = programs::to_device(x), *on_y = programs::to_device(y), *on_z = programs::to_device(x);
        CHECK(kernels_.launch(name, blocks, stream_, on_x, on_y, on_z, count));
        CHECK(aclrtSynchronizeStream(stream_));
        const std::vector<T> z = programs::to_host(on_z, count);
        for (T* memory : {on_x, on_y, on_z}) CHECK(aclrtFree(memory));
        return z;
    }
    ~Operators() { CHECK(aclrtDestroyStream(stream_)); }

private:
    programs::Kernels kernels_;
    aclrtStream stream_ = programs::new_stream();
};

bool near(double got, double expected, double tolerance) {
    return std::fabs(got - expected) <= tolerance * (1 + std::fabs(expected));
}

void check_gelu(Operators& operators) {
    std::vector<aclFloat16> x(count);
    for (std::uint32_t i = 0; i < count; ++i) x[i] = aclFloatToFloat16(static_cast<float>(i % 4096) / 256 - 8);
    const auto z = operators.run("gelu_custom", x, x);
    for (std::uint32_t i = 0; i < count; ++i) {
        const double v = static_cast<double>(aclFloat16ToFloat(x[i]));
        const double expected = 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
        REQUIRE(near(static_cast<double>(aclFloat16ToFloat(z[i])), expected, 1e-3));
    }
}

void check_floats(Operators& operators) {
    std::vector<float> x(count), y(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i % 997) / 100;
        y[i] = static_cast<float>(i % 61) / 10 - 3;
    }
    const auto gated = operators.run("swiglu_custom", x, y);
    const auto powers = operators.run("power_clamp_custom", x, y);
    const auto running = operators.run("cumsum_custom", x, y);
    const auto reduced = operators.run("reduce_custom", x, y);
    for (std::uint32_t i = 0; i < count; ++i) {
        const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
        REQUIRE(near(static_cast<double>(gated[i]), a * b / (1 + std::exp(-b)), 1e-6));
        REQUIRE(near(static_cast<double>(powers[i]), std::fmin(std::fmax(std::pow(a, b), 0.5), 50), 1e-6));
    }
    for (std::uint32_t row = 0; row < count / 64; ++row) {
        const std::uint32_t matrix = row / 16 * 1024;
        double sum = 0;
        for (std::uint32_t i = 0; i < 64; ++i) {
            sum += static_cast<double>(x[row * 64 + i]);
            REQUIRE(near(static_cast<double>(running[row * 64 + i]), sum, 1e-6));
        }
        REQUIRE(near(static_cast<double>(reduced[matrix + row % 16]), sum, 1e-6));
        for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(reduced[matrix + 64 + i] >= x[row * 64 + i]);
    }
}

}  // namespace

int main() {
    programs::Device device;
    {
        Operators operators;
        check_gelu(operators);
        check_floats(operators);
    }
    std::printf("high_level_operators: %u elements on %u blocks\n", count, blocks);
}
