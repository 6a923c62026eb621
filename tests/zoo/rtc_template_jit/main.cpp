// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "jit.h"

static const char* HEADER = R"(
#ifndef REDUCTIONS_H
#define REDUCTIONS_H
namespace reductions {
struct Sum {
    static constexpr float start = 0;
    static __aicore__ inline float apply(float a, float b) { return a + b; }
};
struct Largest {
    static constexpr float start = -3e38f;
    static __aicore__ inline float apply(float a, float b) { return a > b ? a : b; }
};
}
#endif
)";

static const char* SOURCE = R"(
#include "kernel_operator.h"
#include "detail/reductions.h"

#ifndef TILE
#error "TILE comes from the options"
#endif

namespace kernels {
// every block leaves one number
template <typename T, typename REDUCTION>
__global__ __vector__ void reduce(__gm__ T* x, __gm__ float* partial, uint32_t count)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> que;
    pipe.InitBuffer(que, 2, TILE * sizeof(T));
    AscendC::GlobalTensor<T> gm;
    gm.SetGlobalBuffer(x, count);
    float result = REDUCTION::start;
    for (uint32_t i = AscendC::GetBlockIdx() * TILE; i < count; i += AscendC::GetBlockNum() * TILE) {
        auto t = que.template AllocTensor<T>();
        AscendC::DataCopy(t, gm[i], TILE);
        que.EnQue(t);
        t = que.template DeQue<T>();
        for (uint32_t j = 0; j < TILE; ++j) result = REDUCTION::apply(result, static_cast<float>(t.GetValue(j)));
        que.FreeTensor(t);
    }
    AscendC::GlobalTensor<float> out;
    out.SetGlobalBuffer(partial + AscendC::GetBlockIdx() * 16, 16);  // a cache line for each block
    out.SetValue(0, result);
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::SINGLE_CACHE_LINE, AscendC::DcciDst::CACHELINE_OUT>(out);
}
}
)";

int main()
{
    constexpr uint32_t kCount = 16384, kBlocks = 4;
    try {
        JIT_CHECK(aclInit(nullptr));
        JIT_CHECK(aclrtSetDevice(0));
        aclrtStream stream = nullptr;
        JIT_CHECK(aclrtCreateStream(&stream));

        const std::string sumF = "kernels::reduce<float, reductions::Sum>";
        const std::string maxI = "kernels::reduce<int32_t, reductions::Largest>";
        jit::Module module("reduce.asc", SOURCE, {{"detail/reductions.h", HEADER}}, {sumF, maxI},
                           {"--npu-arch=dav-2201", "-O2", "-DTILE=512", "-std=c++17"});
        printf("image of %zu bytes\n", module.ImageSize());

        std::vector<float> f(kCount);
        std::vector<int32_t> n(kCount);
        double sum = 0;
        int32_t largest = INT32_MIN;
        for (uint32_t i = 0; i < kCount; ++i) {
            f[i] = static_cast<float>(i % 97) * 0.25f;
            n[i] = static_cast<int32_t>((i * 7919u) % 100003u) - 50000;
            sum += f[i];
            largest = n[i] > largest ? n[i] : largest;
        }
        void *x = nullptr, *partial = nullptr;
        const size_t bytes = kCount * 4, partialBytes = kBlocks * 64;
        JIT_CHECK(aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        JIT_CHECK(aclrtMalloc(&partial, partialBytes, ACL_MEM_MALLOC_HUGE_FIRST));
        float host[kBlocks * 16];

        JIT_CHECK(aclrtMemcpy(x, bytes, f.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        jit::Launch(module.Get(sumF), kBlocks, stream, x, partial, kCount);
        JIT_CHECK(aclrtSynchronizeStream(stream));
        JIT_CHECK(aclrtMemcpy(host, partialBytes, partial, partialBytes, ACL_MEMCPY_DEVICE_TO_HOST));
        const double gotSum = static_cast<double>(host[0]) + host[16] + host[32] + host[48];

        JIT_CHECK(aclrtMemcpy(x, bytes, n.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        jit::Launch(module.Get(maxI), kBlocks, stream, x, partial, kCount);
        JIT_CHECK(aclrtSynchronizeStream(stream));
        JIT_CHECK(aclrtMemcpy(host, partialBytes, partial, partialBytes, ACL_MEMCPY_DEVICE_TO_HOST));
        const float gotMax = std::fmax(std::fmax(host[0], host[16]), std::fmax(host[32], host[48]));

        bool failedAsExpected = false;
        try {
            jit::Module bad("bad.asc", "#include \"not_there.h\"\n", {}, {}, {});
        } catch (const jit::Error& error) {
            failedAsExpected = std::string(error.what()).find("not_there.h") != std::string::npos;
        }
        JIT_CHECK(aclrtFree(x));
        JIT_CHECK(aclrtFree(partial));
        JIT_CHECK(aclrtDestroyStream(stream));
        const bool ok = gotSum == sum && gotMax == static_cast<float>(largest) && failedAsExpected;
        printf("sum %.2f (%.2f), max %.0f (%d), error seen: %d\n", gotSum, sum, gotMax, largest, failedAsExpected);
        printf("%s\n", ok ? "JIT test PASSED" : "JIT test FAILED");
        return ok ? 0 : 1;
    } catch (const std::exception& error) {
        printf("%s\n%s\n", error.what(), aclGetRecentErrMsg() ? aclGetRecentErrMsg() : "");
        return 1;
    }
}
