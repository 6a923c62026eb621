// SPDX-License-Identifier: Apache-2.0
// Mean and variance of vectors that arrive in tiles, with a mean far larger than the deviations.
#include "rows/rows.h"

using namespace programs;

int main() {
    constexpr std::uint32_t blocks = 4, tile = 256, tiles = 9, length = tile * tiles;
    Device device;
    const Kernels kernels;
    std::vector<float> x = numbers(blocks * length, 1, 1);
    for (float& value : x) value += 1000.0f;
    float* statistics = to_device(std::vector<float>(blocks * 16));
    aclrtStream stream = new_stream();
    CHECK(kernels.launch("welford", blocks, stream, to_device(x), statistics, tile, tiles));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> got = to_host(statistics, blocks * 16);
    for (std::uint32_t b = 0; b < blocks; ++b) {
        const Moments moments = moments_of(&x[b * length], length);
        require_near(got[b * 16], moments.mean, 1e-6);
        require_near(got[b * 16 + 8], moments.variance, 1e-4);
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("moments_of_tiles: %u vectors of %u\n", blocks, length);
    return 0;
}
