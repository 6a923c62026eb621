// SPDX-License-Identifier: Apache-2.0
// The gradients of layer normalisation: those of the input, of gamma and of beta.
#include "rows/rows.h"

using namespace programs;

int main() {
    constexpr std::uint32_t rows = 8, length = 256;
    Device device;
    const Kernels kernels;
    const std::vector<float> dy = numbers(rows * length, 1, 1), x = numbers(rows * length, 2, 3),
                             gamma = numbers(length, 3, 2);
    std::vector<float> means(rows), variances(rows);
    for (std::uint32_t r = 0; r < rows; ++r) {
        const Moments moments = moments_of(&x[r * length], length);
        means[r] = static_cast<float>(moments.mean);
        variances[r] = static_cast<float>(moments.variance);
    }
    float* dx = to_device(std::vector<float>(x.size()));
    float* dgamma = to_device(std::vector<float>(length));
    float* dbeta = to_device(std::vector<float>(length));
    auto* tiling = value_on_device(tiling_of<LayerNormGradTiling>(1, rows, length));
    auto* beta_tiling = value_on_device(tiling_of<LayerNormGradBetaTiling>(1, rows, length));
    aclrtStream stream = new_stream();
    CHECK(kernels.launch("layer_norm_gradient", 1, stream, to_device(dy), to_device(x), to_device(variances),
                         to_device(means), to_device(gamma), dx, dgamma, dbeta, tiling, beta_tiling));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> got = to_host(dx, x.size()), of_gamma = to_host(dgamma, length),
                             of_beta = to_host(dbeta, length);
    std::vector<double> gammas(length), betas(length);
    for (std::uint32_t r = 0; r < rows; ++r) {
        const Moments moments = moments_of(&x[r * length], length);
        const double rstd = 1 / std::sqrt(moments.variance + 1e-5);
        const auto standardised = [&](std::uint32_t i) {
            return (static_cast<double>(x[r * length + i]) - moments.mean) * rstd;
        };
        const auto scaled = [&](std::uint32_t i) {
            return static_cast<double>(dy[r * length + i]) * static_cast<double>(gamma[i]);
        };
        double mean = 0, product = 0;  // of the scaled gradient, and of it times the standardised input
        for (std::uint32_t i = 0; i < length; ++i) {
            mean += scaled(i) / length;
            product += scaled(i) * standardised(i) / length;
            gammas[i] += static_cast<double>(dy[r * length + i]) * standardised(i);
            betas[i] += static_cast<double>(dy[r * length + i]);
        }
        for (std::uint32_t i = 0; i < length; ++i)
            require_near(got[r * length + i], (scaled(i) - mean - standardised(i) * product) * rstd, 1e-5);
    }
    for (std::uint32_t i = 0; i < length; ++i) {
        require_near(of_gamma[i], gammas[i], 1e-5);
        require_near(of_beta[i], betas[i], 1e-5);
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("layer_norm_backward: %u rows of %u\n", rows, length);
    return 0;
}
