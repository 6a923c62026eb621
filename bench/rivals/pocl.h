// SPDX-License-Identifier: Apache-2.0
// PoCL: OpenCL on the processor. An in-order queue and an empty kernel with five arguments, which are set once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

class Pocl {
public:
    // nullptr if it is not installed.
    static std::unique_ptr<Pocl> open();
    // Its version, or a note that it is not installed.
    static std::string version();
    virtual ~Pocl() = default;
    // Queues the kernel `count` times, then waits for all.
    virtual void enqueue_then_finish(std::size_t count) = 0;
    // Queues the kernel and waits for it, `count` times.
    virtual void enqueue_and_finish_each(std::size_t count) = 0;
    // `count` kernels in turn on two queues, each waiting for the event of the one before; then waits for all.
    virtual void enqueue_in_turn(std::size_t count) = 0;
    // Shares three arrays of the program with it, without copies; `add_shared` computes z = x + y and waits.
    virtual void share(float* x, float* y, float* z, std::size_t count) = 0;
    virtual void add_shared() = 0;
};

}  // namespace bench
