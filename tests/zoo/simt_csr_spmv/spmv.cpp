// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "csr.h"
#include "kernel_operator.h"
#include "simt_api/asc_simt.h"

// one warp for each row
__global__ __launch_bounds__(1024) void spmv(CsrView m, const float* x, float* y)
{
    int warpsPerBlock = blockDim.x / warpSize;
    int lane = threadIdx.x % warpSize;
    for (int row = blockIdx.x * warpsPerBlock + threadIdx.x / warpSize; row < m.rows; row += gridDim.x * warpsPerBlock) {
        float sum = 0;
        for (int i = m.ptr[row] + lane; i < m.ptr[row + 1]; i += warpSize) {
            sum += m.val[i] * x[m.col[i]];
        }
        sum = asc_reduce_add(sum);
        if (lane == 0) {
            y[row] = sum;
        }
    }
}

// y = A^T x by atomics, a thread for each row
__global__ __launch_bounds__(512) void spmv_transposed(CsrView m, const float* x, float* y)
{
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < m.rows; row += gridDim.x * blockDim.x) {
        float scale = x[row];
        for (int i = m.ptr[row]; i < m.ptr[row + 1]; i++) {
            asc_atomic_add(&y[m.col[i]], m.val[i] * scale);
        }
    }
}

template <typename T>
static T* Upload(const std::vector<T>& v)
{
    void* p = nullptr;
    if (aclrtMalloc(&p, v.size() * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST) != 0) abort();
    if (aclrtMemcpy(p, v.size() * sizeof(T), v.data(), v.size() * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE) != 0) abort();
    return (T*)p;
}

static int Compare(const char* name, const float* dev, const std::vector<float>& want)
{
    std::vector<float> got(want.size());
    aclrtMemcpy(got.data(), got.size() * 4, dev, got.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (size_t i = 0; i < want.size(); i++) wrong += got[i] != want[i];
    printf("%-16s %d of %zu wrong\n", name, wrong, want.size());
    return wrong;
}

int main()
{
    Csr m = RandomCsr(1500, 700, 90);
    std::vector<float> x(m.cols), xt(m.rows), y(m.rows, 0.f), yt(m.cols, 0.f);
    for (int i = 0; i < m.cols; i++) x[i] = i % 5 - 2;
    for (int i = 0; i < m.rows; i++) xt[i] = i % 3 - 1;
    for (int r = 0; r < m.rows; r++) {
        for (int i = m.ptr[r]; i < m.ptr[r + 1]; i++) {
            y[r] += m.val[i] * x[m.col[i]];
            yt[m.col[i]] += m.val[i] * xt[r];
        }
    }
    if (aclInit(nullptr) || aclrtSetDevice(0)) return 2;
    aclrtStream stream;
    aclrtCreateStream(&stream);
    CsrView view{Upload(m.ptr), Upload(m.col), Upload(m.val), m.rows};
    float *dx = Upload(x), *dxt = Upload(xt), *dy = Upload(std::vector<float>(m.rows, -1.f));
    float* dyt = Upload(std::vector<float>(m.cols, 0.f));
    spmv<<<8, 1024, 0, stream>>>(view, dx, dy);
    spmv_transposed<<<4, 512, 0, stream>>>(view, dxt, dyt);
    if (int ret = aclrtSynchronizeStream(stream)) return printf("sync: %d\n", ret), 1;
    int wrong = Compare("spmv", dy, y) + Compare("spmv_transposed", dyt, yt);
    for (const void* p : {(const void*)view.ptr, (const void*)view.col, (const void*)view.val, (const void*)dx,
                          (const void*)dxt, (const void*)dy, (const void*)dyt}) {
        aclrtFree(const_cast<void*>(p));
    }
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    printf("%s\n", wrong ? "spmv test FAILED" : "spmv test PASSED");
    return wrong != 0;
}
