// SPDX-License-Identifier: Apache-2.0
// OpenBLAS: a matrix product in float on a given number of threads.
#pragma once

#include <string>

namespace bench {

class Blas {
public:
    [[nodiscard]] static bool installed();
    // Its version, or a note that it is not installed.
    static std::string version();
    // C = A * B, square, row-major.
    static void multiply(int threads, int size, const float* a, const float* b, float* c);
};

}  // namespace bench
