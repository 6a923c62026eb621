// SPDX-License-Identifier: Apache-2.0
// The data that the three parts of the control program share in device memory: the host fills it in, then schedulers on
// CPU cores and workers on AI cores communicate through it. Each side polls words in cache lines that the other side
// writes.
#pragma once

#include <stdint.h>

// One AI-core block. The worker writes the first line, its scheduler the second.
struct Worker {
    alignas(64) uint32_t present;  // its number + 1, once it has started
    uint32_t done;                 // the last task it finished, + 1
    alignas(64) uint32_t greeted;  // number of its scheduler + 1, once all workers are present
    uint32_t task;                 // the task to do, + 1; or `leave`
};

constexpr uint32_t leave = 0xFFFFFFFF;

constexpr uint32_t most_needs = 4;

// A task depends on the results of others; if done too early, its result is wrong.
struct Task {
    uint32_t needs[most_needs];
    uint32_t need_count;
    uint32_t missing;         // how many of them are not done yet
    uint32_t followers;       // index of its first follower in the list of followers
    uint32_t follower_count;  // number of tasks that need this one
    uint32_t worker;          // the worker that did it, + 1
    uint32_t times;           // how often it was done
    uint64_t result;
};

struct Control {
    Worker* workers;
    uint32_t worker_count;
    uint32_t task_count;
    Task* tasks;
    uint32_t* followers;
    uint32_t* ready;  // tasks + 1 in the order in which they became ready; 0: not filled in yet
    uint32_t greedy;  // poll without yielding the processor
    uint32_t rounds;  // amount of work per task
    alignas(64) uint32_t ready_end;
    alignas(64) uint32_t ready_begin;
    alignas(64) uint32_t finished;  // number of tasks
    alignas(64) uint32_t arrived;   // number of schedulers that have started
};

inline uint64_t mixed(uint64_t value, uint64_t with) {
    value = (value ^ with) * 0x9E3779B97F4A7C15ull;
    return value ^ (value >> 29);
}
