// SPDX-License-Identifier: Apache-2.0
// The AI-core part of the control program: each block reports its presence, then does the tasks that its scheduler puts
// into its word until it is told to leave.
#include "control.h"
#include "kernel_operator.h"

namespace {

// Waits until the word differs from `known`. Kernels for these cores invalidate the cache line before each read.
__aicore__ inline uint32_t other_than(__gm__ uint32_t* word, uint32_t known, bool greedy) {
    for (;;) {
        const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (value != known) return value;
        if (!greedy) dcci(word, cache_line_t::SINGLE_CACHE_LINE);
    }
}

__aicore__ inline void do_task(__gm__ Control* control, uint32_t number, uint32_t worker) {
    __gm__ Task& task = control->tasks[number];
    uint64_t result = number + 1;
    for (uint32_t i = 0; i < task.need_count; ++i) result = mixed(result, control->tasks[task.needs[i]].result);
    for (uint32_t i = 0; i < control->rounds; ++i) result = mixed(result, i);
    task.result = result;
    task.worker = worker + 1;
    task.times = task.times + 1;
}

}  // namespace

extern "C" __global__ __aicore__ void work_off(__gm__ Control* control) {
    const uint32_t number = block_idx;
    const bool greedy = control->greedy != 0;
    __gm__ Worker& self = control->workers[number];
    __atomic_store_n(&self.present, number + 1, __ATOMIC_RELEASE);
    other_than(&self.greeted, 0, greedy);
    for (uint32_t known = 0;;) {
        known = other_than(&self.task, known, greedy);
        if (known == leave) return;
        do_task(control, known - 1, number);
        __atomic_store_n(&self.done, known, __ATOMIC_RELEASE);
    }
}
