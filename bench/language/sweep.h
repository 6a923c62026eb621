// SPDX-License-Identifier: Apache-2.0
// The sweep: every vector operation of the kernel language beside a plain loop that computes the same. An operation is
// a row of sweep_rows.h; sweep_kernels.asc makes our call from it, sweep_loops.cpp the loop.
#pragma once

#include <cstdint>

namespace bench {

// The operands of a row in the local memory of a core, each `sweep_bytes` long and in the first place as
// sweep_inputs() filled them, and memory of the device. Loops and calls use the same memory.
struct SweepMemory {
    unsigned char* d;
    unsigned char* a;
    unsigned char* b;
    unsigned char* c;
    unsigned char* work;
    unsigned char* device;
};

inline constexpr std::uint32_t sweep_bytes = 32768;
inline constexpr std::uint32_t sweep_elements = 8192;
inline constexpr std::uint32_t sweep_rounds = 31;

using SweepLoop = void (*)(const SweepMemory&);

// How the operands are filled: numbers of this type, or queues of 512 pairs of a score and an index, largest first.
enum class SweepData : std::uint8_t { floats, halves, bfloats, int8, int16, int32, int64, sorted };

struct SweepRow {
    const char* name;
    SweepData data;
    bool masked;   // the form with mask and repeats
    bool special;  // neither of the two plain forms: strides, partial masks, short calls
    SweepLoop loop;
};

// The rows, in the order of the calls in sweep_kernels.asc.
const SweepRow* sweep_rows(std::uint32_t& count);
std::uint32_t sweep_calls();

// Runs row `index` and writes two numbers of ticks of one call for each round: ours and the loop's. Returns the error
// code of the launch.
int launch_sweep(void* stream, std::uint32_t index, SweepLoop loop, void* inputs, void* device, void* ticks);

}  // namespace bench
