// SPDX-License-Identifier: Apache-2.0
// Root mean square normalisation of half, rounded once.
#include "rows/rows.h"

using namespace programs;

int main() {
    constexpr std::uint32_t blocks = 3, rows = 4, length = 512, all = blocks * rows;
    Device device;
    const Kernels kernels;
    std::vector<float> x = numbers(all * length, 1, 4), gamma = numbers(length, 2, 2);
    const auto to_half = [](std::vector<float>& values) {  // and back, so that both sides have the same numbers
        std::vector<aclFloat16> halves;
        for (float& value : values) {
            halves.push_back(aclFloatToFloat16(value));
            value = aclFloat16ToFloat(halves.back());
        }
        return to_device(halves);
    };
    aclFloat16 *source = to_half(x), *scale = to_half(gamma);
    aclFloat16* y = to_device(std::vector<aclFloat16>(x.size()));
    auto* tiling = value_on_device(tiling_of<RmsNormTiling>(1, rows, length));
    aclrtStream stream = new_stream();
    CHECK(kernels.launch("rms_norm", blocks, stream, source, scale, y, tiling));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<aclFloat16> got = to_host(y, x.size());
    const double epsilon = aclFloat16ToFloat(aclFloatToFloat16(0.001f));
    for (std::uint32_t r = 0; r < all; ++r) {
        double squares = 0;
        for (std::uint32_t i = 0; i < length; ++i) squares += std::pow(x[r * length + i], 2) / length;
        for (std::uint32_t i = 0; i < length; ++i)
            require_near(
                aclFloat16ToFloat(got[r * length + i]),
                static_cast<double>(x[r * length + i]) / std::sqrt(squares + epsilon) * static_cast<double>(gamma[i]),
                5e-4);
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("rms_norm_of_half: %u rows of %u\n", all, length);
    return 0;
}
