// SPDX-License-Identifier: Apache-2.0
// Kernels with a bug that a chip shows now and then, each with a twin that differs in the fix only. A body is a
// template: body<false> has the bug. Comments like [1 a] name the lines that a finding must show
// (tests/checking/run_seeds.py).
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernel_operator.h"

namespace seeds {

using namespace AscendC;

// Device memory of a kernel: `in` holds ones, `out` and `work` zeros. 1 MiB each.
struct Memory {
    GM_ADDR in;
    GM_ADDR out;
    GM_ADDR work;
};
constexpr uint32_t floats_of_memory = 1 << 18;

__aicore__ inline GlobalTensor<float> global(GM_ADDR address) {
    GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(address), floats_of_memory);
    return tensor;
}

// One flag from a pipe to another: set and waited for at once.
template <HardEvent event>
__aicore__ inline void pass() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

struct Row {
    const char* kernel;
    uint32_t blocks;
    void (*launch)(uint32_t blocks, aclrtStream stream, const Memory& memory);
};

#define SEED_KERNEL(name, kind, ...) \
    extern "C" __global__ kind void name(GM_ADDR in, GM_ADDR out, GM_ADDR work) { __VA_ARGS__({in, out, work}); }
// The kernels bug_N and right_N.
#define SEED(number, kind, body)                 \
    SEED_KERNEL(bug_##number, kind, body<false>) \
    SEED_KERNEL(right_##number, kind, body<true>)
#define ROW(name, blocks)                                                                                             \
    seeds::Row {                                                                                                      \
#name, blocks,                                                                                                \
            [](uint32_t count, aclrtStream stream,                                                                    \
               const seeds::Memory& memory) { name<<<count, nullptr, stream>>>(memory.in, memory.out, memory.work); } \
    }
#define ROWS(number, blocks) ROW(bug_##number, blocks), ROW(right_##number, blocks)

inline GM_ADDR memory_of(float value) {
    void* memory = nullptr;
    const std::vector<float> values(floats_of_memory, value);
    const size_t bytes = values.size() * sizeof(float);
    if (aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
        aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) != 0)
        return nullptr;
    return static_cast<GM_ADDR>(memory);
}

// Launches the kernels whose names are given, or all, one after the other, and prints what each returned. A kernel that
// fails loses the device, so each starts anew.
inline int run(const std::vector<Row>& rows, int count, char** names) {
    if (aclInit(nullptr) != 0) return 1;
    for (const Row& row : rows) {
        bool wanted = count < 2;
        for (int i = 1; i < count; ++i) wanted = wanted || std::strcmp(names[i], row.kernel) == 0;
        if (!wanted) continue;
        if (aclrtSetDevice(0) != 0) return 1;
        aclrtStream stream = nullptr;
        if (aclrtCreateStream(&stream) != 0) return 1;
        const Memory memory{memory_of(1), memory_of(0), memory_of(0)};
        if (memory.in == nullptr || memory.out == nullptr || memory.work == nullptr) return 1;
        row.launch(row.blocks, stream, memory);
        const int result = aclrtSynchronizeStream(stream);
        std::printf("%s %d\n", row.kernel, result);
        std::fflush(stdout);
        if (aclrtResetDeviceForce(0) != 0) return 1;
    }
    return aclFinalize();
}

}  // namespace seeds
