// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "topk.hpp"

template <uint32_t N, uint32_t K>
__global__ __aicore__ void topk_kernel(GM_ADDR x, GM_ADDR values, GM_ADDR indices, uint32_t rows)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    topk::TopKKernel<N, K> op;
    op.init(x, values, indices, rows);
    op.process();
}

template <typename T>
struct DeviceVector {
    explicit DeviceVector(size_t n) : size(n * sizeof(T))
    {
        if (aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) throw std::bad_alloc();
    }
    explicit DeviceVector(const std::vector<T>& v) : DeviceVector(v.size())
    {
        aclrtMemcpy(ptr, size, v.data(), size, ACL_MEMCPY_HOST_TO_DEVICE);
    }
    ~DeviceVector() { aclrtFree(ptr); }
    std::vector<T> host() const
    {
        std::vector<T> v(size / sizeof(T));
        aclrtMemcpy(v.data(), size, ptr, size, ACL_MEMCPY_DEVICE_TO_HOST);
        return v;
    }
    uint8_t* get() const { return (uint8_t*)ptr; }
    void* ptr = nullptr;
    size_t size;
};

template <uint32_t N, uint32_t K>
bool test(uint32_t rows, aclrtStream stream)
{
    std::vector<float> x(rows * N);
    uint32_t state = N + K;
    for (auto& v : x) {
        state = state * 1103515245u + 12345u;
        v = static_cast<float>((state >> 8) % 100000) / 7.0f - 5000.0f;
    }
    DeviceVector<float> dx(x), dv(rows * K);
    DeviceVector<uint32_t> di(rows * K);
    topk_kernel<N, K><<<3, nullptr, stream>>>(dx.get(), dv.get(), di.get(), rows);
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return false;
    auto values = dv.host();
    auto indices = di.host();
    for (uint32_t r = 0; r < rows; ++r) {
        const float* row = x.data() + r * N;
        std::vector<float> golden(row, row + N);
        std::sort(golden.begin(), golden.end(), std::greater<float>());
        for (uint32_t k = 0; k < K; ++k) {
            uint32_t at = indices[r * K + k];
            if (values[r * K + k] != golden[k] || at >= N || row[at] != golden[k]) {
                std::cout << "row " << r << " k " << k << ": " << values[r * K + k] << " at " << at << ", expected "
                          << golden[k] << std::endl;
                return false;
            }
        }
    }
    std::cout << "top " << K << " of " << N << ": ok" << std::endl;
    return true;
}

int main()
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    bool ok = test<128, 16>(9, stream) & test<512, 512>(4, stream);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    std::cout << (ok ? "test pass" : "test failed") << std::endl;
    return ok ? 0 : -1;
}
