// SPDX-License-Identifier: Apache-2.0
// Kernels of every kind of declaration in one source, with host code beside them.
#include "kernel_operator.h"

#include "offsets.h"

__gm__ int launches = 41;
__gm__ float weights[3] = {1.5f, 2.5f, 3.5f};

extern "C" int aclInit(const char* path);

int host_code() { return aclInit(nullptr); }

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) {
    auto* a = reinterpret_cast<__gm__ const float*>(x);
    auto* b = reinterpret_cast<__gm__ const float*>(y);
    auto* sum = reinterpret_cast<__gm__ float*>(z);
    for (uint32_t i = block_idx; i < count; i += block_num) sum[i] = a[i] + b[i];
}

extern "C" __global__ __cube__ void count_launches(__gm__ int* result) { *result = ++launches; }

extern "C" __global__ __mix__(1, 2) __schedmode__(1) void identities(__gm__ int64_t* result) {
    result[0] = AscendC::GetBlockIdx();
    result[1] = GetBlockNum();
    result[2] = AscendC::GetSubBlockIdx();
    result[3] = block_idx + 100 * block_num;
    if ASCEND_IS_AIV {
        result[4] = offset_of_five;
    }
}

namespace outer {
inline namespace version {
namespace {
__global__ __vector__ void scaled(__gm__ float* result, float factor) { *result = factor * weights[1]; }
}  // namespace
}  // namespace version
}  // namespace outer

extern "C" __global__ __aicore__ void old_style(__gm__ int*) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1); }

extern "C" __global__ __aicore__ void meets() {
    AscendC::SyncAll();
    AscendC::SyncAll<false>();
}
