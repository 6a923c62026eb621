// SPDX-License-Identifier: Apache-2.0
// oneDNN: functions on rows of floats, prepared once, on as many threads as OpenMP has.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

class OneDnn {
public:
    // Nothing if it is not installed.
    static std::unique_ptr<OneDnn> open();
    // Its version, or a note that it is not installed.
    static std::string version();

    virtual ~OneDnn() = default;
    // Each prepares y = f(x); run() then computes it. The memory must stay in place.
    virtual void prepare_softmax(float* x, float* y, std::size_t rows, std::size_t columns) = 0;
    virtual void prepare_layer_norm(float* x, float* y, float* gamma, float* beta, std::size_t rows,
                                    std::size_t columns) = 0;
    virtual void prepare_gelu(float* x, float* y, std::size_t rows, std::size_t columns) = 0;
    virtual void run() = 0;
};

}  // namespace bench
