// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of a batch, one group of rows for each block.
#include "rows/rows.h"

using namespace programs;

int main() {
    constexpr std::uint32_t blocks = 4, rows = 8, length = 768, all = blocks * rows;
    Device device;
    const Kernels kernels;
    const std::vector<float> x = numbers(all * length, 1, 3), gamma = numbers(length, 2, 2),
                             beta = numbers(length, 3, 1);
    float* y = to_device(std::vector<float>(x.size()));
    float* mean = to_device(std::vector<float>(all));
    float* variance = to_device(std::vector<float>(all));
    auto* tiling = value_on_device(tiling_of<LayerNormTiling>(2, rows / 2, length));
    aclrtStream stream = new_stream();
    CHECK(kernels.launch("layer_norm", blocks, stream, to_device(x), to_device(gamma), to_device(beta), y, mean,
                         variance, tiling));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> got = to_host(y, x.size()), means = to_host(mean, all), variances = to_host(variance, all);
    for (std::uint32_t r = 0; r < all; ++r) {
        const Moments moments = moments_of(&x[r * length], length);
        require_near(means[r], moments.mean, 1e-6);
        require_near(variances[r], moments.variance, 1e-6);
        for (std::uint32_t i = 0; i < length; ++i) {
            const double standardised =
                (static_cast<double>(x[r * length + i]) - moments.mean) / std::sqrt(moments.variance + 1e-5);
            require_near(got[r * length + i],
                         standardised * static_cast<double>(gamma[i]) + static_cast<double>(beta[i]), 1e-5);
        }
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("layer_norm_rows: %u rows of %u\n", all, length);
    return 0;
}
