// SPDX-License-Identifier: Apache-2.0
// High-level functions, one call for each row of 4,096 floats, against OpenMP loops and oneDNN on the same number of
// threads.
#include <cstring>

#include "language/rates.h"
#include "rivals/loops.h"
#include "rivals/onednn.h"

namespace bench {
namespace {

constexpr std::size_t rows = 4096, columns = 4096, best = 64;
constexpr std::size_t size = rows * columns * sizeof(float);

class Measurement {
public:
    explicit Measurement(Environment& environment) : environment_(environment) {
        fill(x_.get(), rows * columns, 6);
        fill(gamma_.get(), columns, 7);
        fill(beta_.get(), columns, 8);
    }

    void softmax() {
        measure(
            "softmax-call", "SoftMax, 4,096 rows of 4,096 floats", size,
            [&] { kernels_.run("softmax_call", stream_, x_.get(), y_.get(), rows); },
            [&](float* y) { loop_softmax(floats(x_), y, rows, columns); },
            [&](OneDnn& rival, float* y) { rival.prepare_softmax(floats(x_), y, rows, columns); });
    }
    void layer_norm() {
        measure(
            "layer-norm-call", "LayerNorm, the same", size,
            [&] { kernels_.run("layer_norm_call", stream_, x_.get(), y_.get(), gamma_.get(), beta_.get(), rows); },
            [&](float* y) { loop_layer_norm(floats(x_), y, floats(gamma_), floats(beta_), rows, columns); },
            [&](OneDnn& rival, float* y) {
                rival.prepare_layer_norm(floats(x_), y, floats(gamma_), floats(beta_), rows, columns);
            });
    }
    void rms_norm() {
        measure(
            "rms-norm-call", "RmsNorm, the same", size,
            [&] { kernels_.run("rms_norm_call", stream_, x_.get(), y_.get(), gamma_.get(), rows); },
            [&](float* y) { loop_rms_norm(floats(x_), y, floats(gamma_), rows, columns); }, nullptr);
    }
    void gelu() {
        measure(
            "gelu-call", "Gelu, the same", size, [&] { kernels_.run("gelu_call", stream_, x_.get(), y_.get(), rows); },
            [&](float* y) { loop_gelu(floats(x_), y, rows * columns); },
            [&](OneDnn& rival, float* y) { rival.prepare_gelu(floats(x_), y, rows, columns); });
    }
    void top_k() {
        // Distinct enough that the best are not all equal.
        auto* values = floats(x_);
        std::mt19937 random(9);
        for (std::size_t i = 0; i < rows * columns; ++i) values[i] = static_cast<float>(random() >> 8);
        measure(
            "top-k-call", "TopK of 64, the same", rows * 2 * best * sizeof(float),
            [&] { kernels_.run("top_k_call", stream_, x_.get(), y_.get(), rows); },
            [&](float* y) { loop_top_k(floats(x_), y, best, rows, columns); }, nullptr);
    }

private:
    using Prepare = std::function<void(OneDnn&, float*)>;

    // `result` counts the bytes of the result.
    template <class Ours, class Loop>
    void measure(const char* name, const char* what, std::size_t result, const Ours& ours, const Loop& loop,
                 const Prepare& prepare) {
        const auto bytes = static_cast<double>(size + result);
        std::memset(y_.get(), 0, size);
        ours();
        loop(floats(expected_));
        std::vector<float> got(floats(y_), floats(y_) + result / sizeof(float));
        if (result == size)
            require_close(got, floats(expected_), name);
        else if (std::memcmp(y_.get(), expected_.get(), result) != 0)  // selected values and their indices
            throw std::runtime_error(fmt::format("{}: differs from the loop", name));
        std::vector<Contender> contenders = {rate("Canopy", bytes, ours),
                                             rate("OpenMP", bytes, [&] { loop(floats(y_)); })};
        if (prepare && one_dnn_) {
            prepare(*one_dnn_, floats(y_));
            one_dnn_->run();
            got.assign(floats(y_), floats(y_) + result / sizeof(float));
            require_close(got, floats(expected_), "oneDNN");
            contenders.push_back(rate("oneDNN", bytes, [&] { one_dnn_->run(); }));
        }
        take_turns(contenders, environment_.options.rounds(12));
        add_rate_row(environment_, name, what, contenders, 1.0);
    }

    Environment& environment_;
    const KernelImage kernels_{CANOPY_BENCH_HIGH_LEVEL};
    const Stream stream_;
    DeviceMemory x_{size}, y_{size}, expected_{size};
    DeviceMemory gamma_{columns * sizeof(float)}, beta_{columns * sizeof(float)};
    const std::unique_ptr<OneDnn> one_dnn_ = OneDnn::open();
};

}  // namespace

void measure_high_level(Environment& environment) {
    Measurement measurement(environment);
    measurement.softmax();
    measurement.layer_norm();
    measurement.rms_norm();
    measurement.gelu();
    measurement.top_k();
}

}  // namespace bench
