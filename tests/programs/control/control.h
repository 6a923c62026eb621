// SPDX-License-Identifier: Apache-2.0
// What the three parts of the control program share, in device memory: the host fills it, schedulers on CPU cores and
// workers on AI cores talk through it. Every word that one side polls is on a cache line of its own side.
#pragma once

#include <stdint.h>

// One AI-core block. The first line is written by the worker, the second by its scheduler.
struct Worker {
    alignas(64) uint32_t present;  // its number + 1, when it has begun
    uint32_t done;                 // the task it has finished last, + 1
    alignas(64) uint32_t greeted;  // number of its scheduler + 1, when all workers are there
    uint32_t task;                 // the task it is to do, + 1; or leave
};

constexpr uint32_t leave = 0xFFFFFFFF;

constexpr uint32_t most_needs = 4;

// A task needs the results of others. What it computes depends on them: done too early, it comes out wrong.
struct Task {
    uint32_t needs[most_needs];
    uint32_t need_count;
    uint32_t missing;         // of these, not done yet
    uint32_t followers;       // where those begin in the list of followers
    uint32_t follower_count;  // that need this one
    uint32_t worker;          // who did it, + 1
    uint32_t times;           // that it was done
    uint64_t result;
};

struct Control {
    Worker* workers;
    uint32_t worker_count;
    uint32_t task_count;
    Task* tasks;
    uint32_t* followers;
    uint32_t* ready;  // tasks + 1 in the order in which they became possible; 0: not filled in yet
    uint32_t greedy;  // pollers give nothing back to the machine
    uint32_t rounds;  // of work that a task is
    alignas(64) uint32_t ready_end;
    alignas(64) uint32_t ready_begin;
    alignas(64) uint32_t finished;  // tasks
    alignas(64) uint32_t arrived;   // schedulers, at the beginning
};

inline uint64_t mixed(uint64_t value, uint64_t with) {
    value = (value ^ with) * 0x9E3779B97F4A7C15ull;
    return value ^ (value >> 29);
}
