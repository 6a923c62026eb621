// SPDX-License-Identifier: Apache-2.0
// Calls the operator as any other: ask for the workspace, queue it on a stream.
#include <acl/acl.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "aclnn_scaled_add.h"

namespace {

bool succeeded(const char* call, int code) {
    if (code != 0) std::fprintf(stderr, "%s failed with %d: %s\n", call, code, aclGetRecentErrMsg());
    return code == 0;
}

// Computes x + scale * y with the operator; returns the number of wrong results.
template <class T, class From, class To>
int compute(aclDataType type, int64_t count, double scale, From from, To to, aclrtStream stream) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    std::vector<T> x(static_cast<size_t>(count)), y(x.size()), z(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = from(static_cast<float>(i % 100) / 4);
        y[i] = from(static_cast<float>(i % 7) - 3);
    }
    void* device[3] = {};
    for (void*& memory : device) succeeded("aclrtMalloc", aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtMemcpy(device[0], bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(device[1], bytes, y.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclTensor* tensors[3];
    for (int i = 0; i < 3; ++i)
        tensors[i] = aclCreateTensor(&count, 1, type, nullptr, 0, ACL_FORMAT_ND, &count, 1, device[i]);

    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    void* workspace = nullptr;
    bool good = succeeded("aclnnScaledAddGetWorkspaceSize",
                          aclnnScaledAddGetWorkspaceSize(tensors[0], tensors[1], scale, tensors[2], &size, &executor));
    if (good && size != 0) good = succeeded("aclrtMalloc", aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    good = good && succeeded("aclnnScaledAdd", aclnnScaledAdd(workspace, size, executor, stream));
    good = good && succeeded("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
    aclrtMemcpy(z.data(), bytes, device[2], bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = good ? 0 : static_cast<int>(count);
    for (size_t i = 0; i < z.size() && good; ++i)
        if (to(z[i]) != to(x[i]) + static_cast<float>(scale) * to(y[i])) ++wrong;
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (void* memory : device) aclrtFree(memory);
    if (workspace != nullptr) aclrtFree(workspace);
    return wrong;
}

}  // namespace

int main() {
    if (!succeeded("aclInit", aclInit(nullptr)) || !succeeded("aclrtSetDevice", aclrtSetDevice(0))) return 1;
    aclrtStream stream = nullptr;
    if (!succeeded("aclrtCreateStream", aclrtCreateStream(&stream))) return 1;
    int wrong = 0;
    const auto same = [](float value) { return value; };
    for (const int64_t count : {int64_t{1 << 16}, int64_t{100003}}) {
        wrong += compute<float>(ACL_FLOAT, count, 2.0, same, same, stream);
        wrong += compute<aclFloat16>(ACL_FLOAT16, count, 0.5, aclFloatToFloat16, aclFloat16ToFloat, stream);
    }
    std::printf("scaled add of half and float, 4 calls: %d wrong\n", wrong);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return wrong == 0 ? 0 : 1;
}
