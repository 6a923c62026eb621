// SPDX-License-Identifier: Apache-2.0
// Attention whose rows of scores arrive in tiles: no row is ever complete in local memory.
#include "rows/rows.h"

using namespace programs;

int main() {
    constexpr std::uint32_t groups = 3, rows = groups * 8, columns = 1024, tile = 128, width = 16;
    Device device;
    const Kernels kernels;
    const std::vector<float> scores = numbers(rows * columns, 1, 6), values = numbers(columns * width, 2, 2);
    // In memory the tiles of 8 rows follow each other.
    std::vector<float> in_tiles(scores.size());
    for (std::uint32_t r = 0; r < rows; ++r)
        for (std::uint32_t c = 0; c < columns; ++c)
            in_tiles[((r / 8 * (columns / tile) + c / tile) * 8 + r % 8) * tile + c % tile] = scores[r * columns + c];
    float* x = to_device(in_tiles);
    float* v = to_device(values);
    float* result = to_device(std::vector<float>(rows * width));
    aclrtStream stream = new_stream();
    CHECK(kernels.launch("attention", groups, stream, x, v, result, columns));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> got = to_host(result, rows * width);
    for (std::uint32_t r = 0; r < rows; ++r) {
        double sum = 0, expected[width] = {};
        for (std::uint32_t c = 0; c < columns; ++c) {
            const double weight = std::exp(static_cast<double>(scores[r * columns + c]));
            sum += weight;
            for (std::uint32_t i = 0; i < width; ++i)
                expected[i] += weight * static_cast<double>(values[c * width + i]);
        }
        for (std::uint32_t i = 0; i < width; ++i) require_near(got[r * width + i], expected[i] / sum, 1e-5);
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("attention_in_tiles: %u rows of %u scores\n", rows, columns);
    return 0;
}
