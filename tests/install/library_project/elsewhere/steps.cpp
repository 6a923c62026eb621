// SPDX-License-Identifier: Apache-2.0
// Two kernels in one file, launched through their headers.
#include "steps.h"

#include "kernel_operator.h"

#ifndef HOST_ALSO
#error "an option behind -forward-options-to-host-compiler is missing"
#endif

struct Change {
    int factor;
    int term;
};

extern "C" __global__ __aicore__ void add_step(GM_ADDR value) {
    int warned_of;
    *(__gm__ int*)value += STEP * TWICE / 2 + offset;
}

extern "C" __global__ __aicore__ void apply(GM_ADDR value, Change change, const uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) *(__gm__ int*)value = *(__gm__ int*)value * change.factor + change.term;
}

// Not launched from C code: a template, and text that only looks like a kernel.
template <class T>
__global__ __aicore__ void generic(__gm__ T* value) {
    *value = T();
}
#if 0
extern "C" __global__ __aicore__ void never(GM_ADDR value) {}
#endif
