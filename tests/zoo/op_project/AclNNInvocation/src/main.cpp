// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn_tpl_leaky.h"
#include "aclnn_weighted_sum.h"

#define CHECK_RET(cond, ...) \
    do { \
        if (!(cond)) { \
            printf(__VA_ARGS__); \
            exit(1); \
        } \
    } while (0)

static aclTensor *CreateTensor(const std::vector<float> &values, const std::vector<int64_t> &shape, void **dev,
    const std::vector<int64_t> *strides = nullptr, aclDataType type = ACL_FLOAT)
{
    size_t size = values.size() * sizeof(float);
    CHECK_RET(aclrtMalloc(dev, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0, "malloc failed\n");
    CHECK_RET(aclrtMemcpy(*dev, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE) == 0, "copy failed\n");
    return aclCreateTensor(shape.data(), shape.size(), type, strides == nullptr ? nullptr : strides->data(), 0,
        ACL_FORMAT_ND, shape.data(), shape.size(), *dev);
}

static std::vector<float> Ramp(size_t n, float start)
{
    std::vector<float> v(n);
    for (size_t i = 0; i < n; i++) {
        v[i] = start + static_cast<float>(i % 512);
    }
    return v;
}

static size_t Leaky(int64_t length, aclrtStream stream)
{
    void *xDev = nullptr, *yDev = nullptr;
    std::vector<float> x = Ramp(length, -256.0f), y(length);
    aclTensor *xT = CreateTensor(x, {length / 64, 64}, &xDev);
    aclTensor *yT = CreateTensor(y, {length / 64, 64}, &yDev);
    uint64_t size = 1;
    aclOpExecutor *executor = nullptr;
    auto ret = aclnnTplLeakyGetWorkspaceSize(xT, 0.25, yT, &size, &executor);
    CHECK_RET(ret == 0 && size == 0, "aclnnTplLeakyGetWorkspaceSize failed: %d\n", ret);
    ret = aclnnTplLeaky(nullptr, 0, executor, stream);
    CHECK_RET(ret == 0, "aclnnTplLeaky failed: %d\n", ret);
    aclDestroyTensor(xT);
    aclDestroyTensor(yT);
    CHECK_RET(aclrtSynchronizeStream(stream) == 0, "synchronize failed: %s\n", aclGetRecentErrMsg());
    aclrtMemcpy(y.data(), length * 4, yDev, length * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    size_t wrong = 0;
    for (int64_t i = 0; i < length; i++) {
        wrong += y[i] != (x[i] > 0 ? x[i] : x[i] * 0.25f);
    }
    aclrtFree(xDev);
    aclrtFree(yDev);
    return wrong;
}

static size_t WeightedSum(bool withBias, bool withWeights, aclrtStream stream)
{
    const int64_t n = 2048;
    void *dev[3], *biasDev = nullptr, *zDev = nullptr, *workspace = nullptr;
    std::vector<float> x[3], bias = Ramp(n, 1000.0f), z(n);
    const aclTensor *list[3];
    for (int i = 0; i < 3; i++) {
        x[i] = Ramp(n, 10.0f * i);
        list[i] = CreateTensor(x[i], {n}, &dev[i]);
    }
    aclTensorList *xs = aclCreateTensorList(list, 3);
    aclTensor *biasT = CreateTensor(bias, {n}, &biasDev);
    aclTensor *zT = CreateTensor(z, {n}, &zDev);
    const int64_t w[3] = {3, -2, 5};
    aclIntArray *weights = aclCreateIntArray(w, 3);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    auto ret = aclnnWeightedSumGetWorkspaceSize(xs, withBias ? biasT : nullptr, withWeights ? weights : nullptr, zT, &size,
        &executor);
    CHECK_RET(ret == 0 && size > n * 4, "aclnnWeightedSumGetWorkspaceSize failed: %d\n", ret);
    CHECK_RET(aclnnWeightedSumGetWorkspaceSize(nullptr, biasT, weights, zT, &size, &executor) == 161001, "null list\n");
    CHECK_RET(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0, "malloc failed\n");
    // an executor that runs twice
    CHECK_RET(aclSetAclOpExecutorRepeatable(executor) == 0, "repeatable\n");
    CHECK_RET(aclnnWeightedSum(nullptr, 0, executor, stream) == 161001, "null workspace\n");
    for (int i = 0; i < 2; i++) {
        ret = aclnnWeightedSum(workspace, size, executor, stream);
        CHECK_RET(ret == 0, "aclnnWeightedSum failed: %d\n", ret);
    }
    CHECK_RET(aclrtSynchronizeStream(stream) == 0, "synchronize failed: %s\n", aclGetRecentErrMsg());
    CHECK_RET(aclDestroyAclOpExecutor(executor) == 0, "destroy\n");
    aclrtMemcpy(z.data(), n * 4, zDev, n * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    size_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        float golden = withBias ? bias[i] : 0.0f;
        for (int j = 0; j < 3; j++) {
            golden += x[j][i] * (withWeights ? w[j] : 1);
        }
        wrong += golden != z[i];
    }
    aclDestroyTensorList(xs);
    aclDestroyTensor(biasT);
    aclDestroyTensor(zT);
    aclDestroyIntArray(weights);
    for (int i = 0; i < 3; i++) {
        aclrtFree(dev[i]);
    }
    aclrtFree(biasDev);
    aclrtFree(zDev);
    aclrtFree(workspace);
    return wrong;
}

// what an operator refuses
static void Refused()
{
    void *xDev = nullptr, *yDev = nullptr;
    std::vector<float> x(8192);
    std::vector<int64_t> transposed = {1, 64};
    aclTensor *xT = CreateTensor(x, {64, 64}, &xDev, &transposed);
    aclTensor *yT = CreateTensor(x, {64, 64}, &yDev);
    aclTensor *iT = aclCreateTensor(transposed.data(), 2, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, transposed.data(), 2, yDev);
    aclTensor *emptyT = aclCreateTensor(std::vector<int64_t>{0, 64}.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
        transposed.data(), 2, nullptr);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK_RET(aclnnTplLeakyGetWorkspaceSize(nullptr, 0.5, yT, &size, &executor) == 161001, "null tensor\n");
    CHECK_RET(aclnnTplLeakyGetWorkspaceSize(yT, 0.5, yT, nullptr, &executor) == 161001, "null size\n");
    CHECK_RET(aclnnTplLeakyGetWorkspaceSize(xT, 0.5, yT, &size, &executor) == 161002, "strides\n");
    CHECK_RET(aclnnTplLeakyGetWorkspaceSize(iT, 0.5, iT, &size, &executor) == 161002, "types\n");
    CHECK_RET(aclnnTplLeaky(nullptr, 0, nullptr, nullptr) == 161001, "null executor\n");
    CHECK_RET(aclnnTplLeakyGetWorkspaceSize(emptyT, 0.5, emptyT, &size, &executor) == 0 && size == 0, "empty\n");
    CHECK_RET(aclnnTplLeaky(nullptr, 0, executor, nullptr) == 0, "empty run\n");
    for (aclTensor *t : {xT, yT, iT, emptyT}) {
        aclDestroyTensor(t);
    }
    aclrtFree(xDev);
    aclrtFree(yDev);
}

int main()
{
    aclrtStream stream;
    CHECK_RET(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 && aclrtCreateStream(&stream) == 0, "init failed\n");
    size_t wrong = Leaky(4096, stream) + Leaky(16384, stream) + Leaky(131072, stream);
    wrong += WeightedSum(true, true, stream) + WeightedSum(false, true, stream) + WeightedSum(true, false, stream);
    Refused();
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    printf("%s: %zu wrong\n", wrong == 0 ? "test pass" : "test failed", wrong);
    return wrong == 0 ? 0 : 1;
}
