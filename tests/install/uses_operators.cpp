// SPDX-License-Identifier: Apache-2.0
// Linked by the install test with the operator library: compares sums and products of tensors of several types and
// shapes with plain loops, and checks refused calls. Prints the errors and returns their number.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"

namespace {

int wrong = 0;
aclrtStream stream = nullptr;

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    ++wrong;
}

template <class T>
struct Tensor {
    Tensor(const std::vector<int64_t>& shape, aclDataType type, const std::vector<T>& values,
           const std::vector<int64_t>& strides = {})
        : size(values.size()) {
        aclrtMalloc(&memory, size * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemcpy(memory, size * sizeof(T), values.data(), size * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE);
        handle = aclCreateTensor(shape.data(), shape.size(), type, strides.empty() ? nullptr : strides.data(), 0,
                                 ACL_FORMAT_ND, shape.data(), shape.size(), memory);
    }
    ~Tensor() {
        aclDestroyTensor(handle);
        aclrtFree(memory);
    }
    std::vector<T> values() const {
        std::vector<T> result(size);
        aclrtSynchronizeStream(stream);
        aclrtMemcpy(result.data(), size * sizeof(T), memory, size * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST);
        return result;
    }
    size_t size;
    void* memory = nullptr;
    aclTensor* handle = nullptr;
};

void sums_of_dense_tensors() {
    const size_t count = 100003;
    std::vector<float> x(count), y(count);
    for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 1000), y[i] = static_cast<float>(i % 7);
    Tensor<float> self({static_cast<int64_t>(count)}, ACL_FLOAT, x), other({static_cast<int64_t>(count)}, ACL_FLOAT, y);
    Tensor<float> out({static_cast<int64_t>(count)}, ACL_FLOAT, std::vector<float>(count));
    float factor = 1.5f;
    aclScalar* alpha = aclCreateScalar(&factor, ACL_FLOAT);
    uint64_t workspace = 1;
    aclOpExecutor* executor = nullptr;
    expect(aclnnAddGetWorkspaceSize(self.handle, other.handle, alpha, out.handle, &workspace, &executor) == OK, "Add");
    expect(workspace == 0 && aclnnAdd(nullptr, 0, executor, stream) == OK, "Add on a stream");
    const auto result = out.values();
    size_t bad = 0;
    for (size_t i = 0; i < count; ++i) bad += result[i] == x[i] + 1.5f * y[i] ? 0 : 1;
    expect(bad == 0, "sums of floats");
    aclDestroyScalar(alpha);
}

// Broadcasts a column and a row to a table; the column is strided, using every second element of its memory.
void products_of_shapes_that_stretch() {
    Tensor<int32_t> column({3, 1}, ACL_INT32, {1, 0, 2, 0, 3, 0}, {2, 1}), row({4}, ACL_INT32, {10, 20, 30, 40});
    Tensor<int32_t> out({3, 4}, ACL_INT32, std::vector<int32_t>(12));
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    expect(aclnnMulGetWorkspaceSize(column.handle, row.handle, out.handle, &workspace, &executor) == OK, "Mul");
    expect(aclSetAclOpExecutorRepeatable(executor) == OK, "a repeatable executor");
    expect(aclnnMul(nullptr, 0, executor, stream) == OK && aclnnMul(nullptr, 0, executor, stream) == OK, "Mul twice");
    expect(out.values() == std::vector<int32_t>({10, 20, 30, 40, 20, 40, 60, 80, 30, 60, 90, 120}), "products");
    expect(aclDestroyAclOpExecutor(executor) == OK, "the end of an executor");
}

void halves_in_place() {
    const aclFloat16 one = aclFloatToFloat16(1.0f), two = aclFloatToFloat16(2.0f);
    Tensor<aclFloat16> self({2}, ACL_FLOAT16, {one, two}), other({1}, ACL_FLOAT16, {two});
    int64_t three = 3;
    aclScalar* alpha = aclCreateScalar(&three, ACL_INT64);
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    expect(aclnnInplaceAddGetWorkspaceSize(self.handle, other.handle, alpha, &workspace, &executor) == OK, "in place");
    expect(aclnnInplaceAdd(nullptr, 0, executor, stream) == OK, "in place on a stream");
    expect(self.values() == std::vector<aclFloat16>({aclFloatToFloat16(7.0f), aclFloatToFloat16(8.0f)}), "halves");
    aclDestroyScalar(alpha);
}

void what_is_refused() {
    Tensor<int32_t> three({3}, ACL_INT32, {1, 2, 3}), two({2}, ACL_INT32, {1, 2});
    Tensor<float> other({3}, ACL_FLOAT, {1, 2, 3});
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    expect(aclnnMulGetWorkspaceSize(three.handle, two.handle, three.handle, &workspace, &executor) ==
               ACLNN_ERR_PARAM_INVALID,
           "shapes that do not go together");
    expect(aclnnMulGetWorkspaceSize(three.handle, other.handle, three.handle, &workspace, &executor) ==
               ACLNN_ERR_PARAM_INVALID,
           "two types");
    expect(aclnnMulGetWorkspaceSize(nullptr, two.handle, two.handle, &workspace, &executor) == ACLNN_ERR_PARAM_NULLPTR,
           "no tensor");
    expect(aclnnAddGetWorkspaceSize(two.handle, two.handle, nullptr, two.handle, &workspace, &executor) ==
               ACLNN_ERR_PARAM_NULLPTR,
           "no alpha");
    expect(aclnnAdd(nullptr, 0, nullptr, stream) == ACLNN_ERR_PARAM_NULLPTR, "no executor");
    expect(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr) == nullptr,
           "no shape");
}

}  // namespace

int main() {
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 1;
    sums_of_dense_tensors();
    products_of_shapes_that_stretch();
    halves_in_place();
    what_is_refused();
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return wrong;
}
