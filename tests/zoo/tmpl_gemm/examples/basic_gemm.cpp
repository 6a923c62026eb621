// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "tgemm/device_gemm.hpp"

#define ACL_CHECK(status)                                                              \
    do {                                                                               \
        aclError error = status;                                                       \
        if (error != ACL_ERROR_NONE) {                                                 \
            fprintf(stderr, "%s:%d aclError:%d\n", __FILE__, __LINE__, error);         \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

using namespace tgemm;
using L1TileShape = GemmShape<64, 128, 64>;
using L0TileShape = GemmShape<64, 128, 32>;

template <class ElementC>
using Mmad = BlockMmad<MmadPingpong<>, L1TileShape, L0TileShape, half, ElementC>;
template <class ElementC>
using Gemm = DeviceGemm<BasicGemm<Mmad<ElementC>, L1TileShape, half, ElementC, BlockSwizzle<3>>>;

static float ToFloat32(float x) { return x; }
static float ToFloat32(aclFloat16 x) { return aclFloat16ToFloat(x); }

template <class ElementC, class HostC>
static bool Run(uint32_t m, uint32_t n, uint32_t k, aclrtStream stream)
{
    std::vector<aclFloat16> hostA(m * k), hostB(k * n);
    for (auto& x : hostA) x = aclFloatToFloat16(static_cast<float>(rand() % 11 - 5));
    for (auto& x : hostB) x = aclFloatToFloat16(static_cast<float>(rand() % 7 - 3));
    std::vector<HostC> hostC(m * n);
    size_t sizeA = hostA.size() * sizeof(aclFloat16), sizeB = hostB.size() * sizeof(aclFloat16);
    size_t sizeC = hostC.size() * sizeof(HostC);
    uint8_t *deviceA{nullptr}, *deviceB{nullptr}, *deviceC{nullptr};
    ACL_CHECK(aclrtMalloc(reinterpret_cast<void**>(&deviceA), sizeA, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL_CHECK(aclrtMalloc(reinterpret_cast<void**>(&deviceB), sizeB, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL_CHECK(aclrtMalloc(reinterpret_cast<void**>(&deviceC), sizeC, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL_CHECK(aclrtMemcpy(deviceA, sizeA, hostA.data(), sizeA, ACL_MEMCPY_HOST_TO_DEVICE));
    ACL_CHECK(aclrtMemcpy(deviceB, sizeB, hostB.data(), sizeB, ACL_MEMCPY_HOST_TO_DEVICE));

    GemmCoord problem{m, n, k};
    if (!Gemm<ElementC>::CanImplement(problem)) return false;
    Gemm<ElementC> gemm;
    gemm.Initialize({problem, deviceA, layout::RowMajor{m, k}, deviceB, layout::RowMajor{k, n}, deviceC,
                     layout::RowMajor{m, n}});
    gemm(stream, 4);
    ACL_CHECK(aclrtSynchronizeStream(stream));
    ACL_CHECK(aclrtMemcpy(hostC.data(), sizeC, deviceC, sizeC, ACL_MEMCPY_DEVICE_TO_HOST));
    ACL_CHECK(aclrtFree(deviceA));
    ACL_CHECK(aclrtFree(deviceB));
    ACL_CHECK(aclrtFree(deviceC));

    uint32_t errors = 0;
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            float golden = 0;
            for (uint32_t l = 0; l < k; ++l) {
                golden += aclFloat16ToFloat(hostA[i * k + l]) * aclFloat16ToFloat(hostB[l * n + j]);
            }
            errors += std::fabs(ToFloat32(hostC[i * n + j]) - golden) > 0.001f * std::fabs(golden) + 1e-3f;
        }
    }
    printf("gemm %u x %u x %u: %s (%u errors)\n", m, n, k, errors == 0 ? "Compare success." : "Compare failed.", errors);
    return errors == 0;
}

int main()
{
    aclrtStream stream{nullptr};
    ACL_CHECK(aclInit(nullptr));
    ACL_CHECK(aclrtSetDevice(0));
    ACL_CHECK(aclrtCreateStream(&stream));
    bool ok = Run<float, float>(256, 128, 192, stream);
    ok = Run<float, float>(100, 300, 72, stream) && ok;
    ok = Run<half, aclFloat16>(65, 144, 80, stream) && ok;
    ACL_CHECK(aclrtDestroyStream(stream));
    ACL_CHECK(aclrtResetDevice(0));
    ACL_CHECK(aclFinalize());
    return ok ? 0 : 1;
}
