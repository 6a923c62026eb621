// SPDX-License-Identifier: Apache-2.0
// The operators: each checks its tensors, turns them into one Elementwise, and later queues it on a stream. The kernels
// are in elementwise.asc.
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

#include <cstring>
#include <new>

#include "tensor.h"

namespace canopy::operators {
namespace {

bool is_known(aclDataType type) {
    switch (static_cast<Element>(type)) {
        case Element::float32:
        case Element::float16:
        case Element::int8:
        case Element::int32:
        case Element::uint8:
        case Element::int16:
        case Element::int64:
        case Element::float64:
        case Element::bfloat16:
            return true;
    }
    return false;
}

template <class T>
T read(const aclScalar& scalar) {
    T value;
    std::memcpy(&value, scalar.bytes.data(), sizeof(value));
    return value;
}

// Reads a scalar as a floating-point number and as an integer; false if its type is neither.
bool read_scalar(const aclScalar& scalar, double& number, std::int64_t& whole) {
    switch (scalar.type) {
        case ACL_FLOAT:
            number = read<float>(scalar);
            break;
        case ACL_DOUBLE:
            number = read<double>(scalar);
            break;
        case ACL_FLOAT16:
            number = aclFloat16ToFloat(read<aclFloat16>(scalar));
            break;
        case ACL_INT8:
            number = read<std::int8_t>(scalar);
            break;
        case ACL_INT16:
            number = read<std::int16_t>(scalar);
            break;
        case ACL_INT32:
            number = read<std::int32_t>(scalar);
            break;
        case ACL_UINT8:
        case ACL_BOOL:
            number = read<std::uint8_t>(scalar);
            break;
        case ACL_INT64:
            whole = read<std::int64_t>(scalar);
            number = static_cast<double>(whole);
            return true;
        default:
            return false;
    }
    whole = static_cast<std::int64_t>(number);
    return true;
}

// Strides of `tensor` broadcast to the shape of the result; false if the shapes are incompatible.
bool broadcast(const aclTensor& tensor, const aclTensor& out, std::int64_t* strides) {
    if (tensor.shape.size() > out.shape.size()) return false;
    const std::size_t missing = out.shape.size() - tensor.shape.size();
    for (std::size_t axis = 0; axis < out.shape.size(); ++axis) {
        strides[axis] = 0;
        if (axis < missing) continue;
        const std::int64_t size = tensor.shape[axis - missing];
        if (size != 1 && size != out.shape[axis]) return false;
        if (size != 1) strides[axis] = tensor.strides[axis - missing];
    }
    return true;
}

const void* first_element(const aclTensor& tensor) {
    const auto bytes = static_cast<std::int64_t>(aclDataTypeSize(tensor.type));
    return static_cast<const char*>(tensor.data) + tensor.offset * bytes;
}

bool is_dense(const Elementwise& work) {
    std::int64_t stride = 1;
    for (std::uint32_t axis = work.rank; axis-- > 0;) {
        if (work.shape[axis] != 1 && (work.self_strides[axis] != stride || work.other_strides[axis] != stride ||
                                      work.out_strides[axis] != stride))
            return false;
        stride *= work.shape[axis];
    }
    return true;
}

aclnnStatus prepare(Operation operation, const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
                    const aclTensor* out, std::uint64_t* workspace_size, aclOpExecutor** executor) {
    if (self == nullptr || other == nullptr || out == nullptr || workspace_size == nullptr || executor == nullptr)
        return ACLNN_ERR_PARAM_NULLPTR;
    if (self->type != out->type || other->type != out->type || !is_known(out->type)) return ACLNN_ERR_PARAM_INVALID;
    Elementwise work;
    work.operation = operation;
    work.element = static_cast<Element>(out->type);
    work.rank = static_cast<std::uint32_t>(out->shape.size());
    work.count = 1;
    for (std::uint32_t axis = 0; axis < work.rank; ++axis) {
        work.shape[axis] = out->shape[axis];
        work.count *= static_cast<std::uint64_t>(out->shape[axis]);
    }
    if (!broadcast(*self, *out, work.self_strides) || !broadcast(*other, *out, work.other_strides) ||
        !broadcast(*out, *out, work.out_strides))
        return ACLNN_ERR_PARAM_INVALID;
    if (alpha != nullptr && !read_scalar(*alpha, work.alpha, work.whole_alpha)) return ACLNN_ERR_PARAM_INVALID;
    if (work.count != 0 && (self->data == nullptr || other->data == nullptr || out->data == nullptr))
        return ACLNN_ERR_PARAM_NULLPTR;
    work.self = first_element(*self);
    work.other = first_element(*other);
    work.out = const_cast<void*>(first_element(*out));
    work.dense = is_dense(work) ? 1 : 0;
    auto* made = new (std::nothrow) aclOpExecutor;
    if (made == nullptr) return ACLNN_ERR_INNER;
    made->work = work;
    *workspace_size = 0;
    *executor = made;
    return ACLNN_SUCCESS;
}

// Launches the image for the current device's chip.
int launch(const Elementwise& work, aclrtStream stream) {
    std::int32_t device = 0;
    std::int64_t architecture = 2201;
    if (const int code = aclrtGetDevice(&device); code != ACL_SUCCESS) return code;
    if (const int code = aclrtGetDeviceInfo(static_cast<std::uint32_t>(device), ACL_DEV_ATTR_NPU_ARCH, &architecture);
        code != ACL_SUCCESS)
        return code;
    return architecture == 3510 ? launch_3510(work, stream) : launch_2201(work, stream);
}

aclnnStatus run_work(aclOpExecutor& executor, void* workspace, std::uint64_t workspace_size, aclrtStream stream) {
    if (executor.other.run != nullptr)
        return executor.other.run(executor.other.state, workspace, workspace_size, stream);
    const int code = executor.work.count == 0 ? 0 : launch(executor.work, stream);
    return code == 0 ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

aclnnStatus run(aclOpExecutor* executor, aclrtStream stream, void* workspace = nullptr,
                std::uint64_t workspace_size = 0) {
    if (executor == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    const aclnnStatus code = run_work(*executor, workspace, workspace_size, stream);
    if (!executor->repeatable) delete executor;
    return code;
}

}  // namespace
}  // namespace canopy::operators

using canopy::operators::Operation;
using canopy::operators::prepare;
using canopy::operators::run;

aclnnStatus aclnnInit(const char*) { return ACLNN_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACLNN_SUCCESS; }

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
    if (executor == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    executor->repeatable = true;
    return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
    if (executor == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    delete executor;
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
                                     aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
    if (alpha == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    return prepare(Operation::add, self, other, alpha, out, workspaceSize, executor);
}

aclnnStatus aclnnAdd(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) { return run(executor, stream); }

aclnnStatus aclnnInplaceAddGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other, const aclScalar* alpha,
                                            uint64_t* workspaceSize, aclOpExecutor** executor) {
    if (alpha == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    return prepare(Operation::add, selfRef, other, alpha, selfRef, workspaceSize, executor);
}

aclnnStatus aclnnInplaceAdd(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {
    return run(executor, stream);
}

aclnnStatus aclnnMulGetWorkspaceSize(const aclTensor* self, const aclTensor* other, aclTensor* out,
                                     uint64_t* workspaceSize, aclOpExecutor** executor) {
    return prepare(Operation::multiply, self, other, nullptr, out, workspaceSize, executor);
}

aclnnStatus aclnnMul(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) { return run(executor, stream); }

aclnnStatus aclnnInplaceMulGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other, uint64_t* workspaceSize,
                                            aclOpExecutor** executor) {
    return prepare(Operation::multiply, selfRef, other, nullptr, selfRef, workspaceSize, executor);
}

aclnnStatus aclnnInplaceMul(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {
    return run(executor, stream);
}

aclnnStatus canopyOperatorExecutor(const CanopyOperatorWork* work, aclOpExecutor** executor) {
    auto* made = new (std::nothrow) aclOpExecutor;
    if (made == nullptr) return ACLNN_ERR_INNER;
    made->other = *work;
    *executor = made;
    return ACLNN_SUCCESS;
}

aclnnStatus canopyOperatorRun(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream) {
    return run(executor, stream, workspace, workspace_size);
}
