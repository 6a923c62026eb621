// SPDX-License-Identifier: Apache-2.0
#include "rivals/blas.h"

#include <cblas.h>

namespace bench {

bool Blas::installed() { return true; }

std::string Blas::version() {
    const std::string configuration = openblas_get_config();
    return configuration.substr(0, configuration.find(' ', configuration.find(' ') + 1));
}

void Blas::multiply(int threads, int size, const float* a, const float* b, float* c) {
    openblas_set_num_threads(threads);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0f, a, size, b, size, 0.0f, c, size);
}

}  // namespace bench
