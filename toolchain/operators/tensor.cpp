// SPDX-License-Identifier: Apache-2.0
// The objects that operators work on, declared in aclnn/acl_meta.h.
#include "tensor.h"

#include <acl/acl.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace {

// Runs code that may run out of memory; a C function must not throw.
template <class Make>
auto made(Make make) noexcept -> decltype(make()) {
    try {
        return make();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

template <class T>
aclnnStatus destroy(const T* object) noexcept {
    if (object == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    delete object;
    return ACLNN_SUCCESS;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= std::max<std::int64_t>(shape[axis], 1);
    }
    return strides;
}

template <class Array, class Value>
Array* make_array(const Value* values, std::uint64_t size) noexcept {
    if (values == nullptr && size != 0) return nullptr;
    return made([&] {
        auto array = std::make_unique<Array>();
        array->values.assign(values, values + size);
        return array.release();
    });
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format, const int64_t*, uint64_t, void* tensorData) {
    if ((viewDims == nullptr && viewDimsNum != 0) || viewDimsNum > canopy::operators::max_rank) return nullptr;
    if (aclDataTypeSize(dataType) == 0) return nullptr;
    if (std::any_of(viewDims, viewDims + viewDimsNum, [](int64_t size) { return size < 0; })) return nullptr;
    return made([&] {
        auto tensor = std::make_unique<aclTensor>();
        tensor->shape.assign(viewDims, viewDims + viewDimsNum);
        if (stride != nullptr)
            tensor->strides.assign(stride, stride + viewDimsNum);
        else
            tensor->strides = dense_strides(tensor->shape);
        tensor->offset = offset;
        tensor->type = dataType;
        tensor->format = format;
        tensor->data = tensorData;
        return tensor.release();
    });
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
    const std::size_t size = aclDataTypeSize(dataType);
    if (value == nullptr || size == 0 || size > sizeof(aclScalar::bytes)) return nullptr;
    return made([&] {
        auto scalar = std::make_unique<aclScalar>();
        scalar->type = dataType;
        std::memcpy(scalar->bytes.data(), value, size);
        return scalar.release();
    });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) { return make_array<aclIntArray>(value, size); }
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) { return make_array<aclFloatArray>(value, size); }
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) { return make_array<aclBoolArray>(value, size); }

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    if (value == nullptr && size != 0) return nullptr;
    return made([&] {
        auto list = std::make_unique<aclTensorList>();
        list->tensors.reserve(size);
        for (uint64_t i = 0; i < size; ++i) list->tensors.emplace_back(value[i]);
        return list.release();
    });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) { return destroy(tensor); }
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return destroy(scalar); }
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return destroy(array); }
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return destroy(array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return destroy(array); }
aclnnStatus aclDestroyTensorList(const aclTensorList* array) { return destroy(array); }

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    if (tensor == nullptr || viewDims == nullptr || viewDimsNum == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    auto* copy = new (std::nothrow) int64_t[tensor->shape.size()];
    if (copy == nullptr) return ACLNN_ERR_INNER;
    std::copy(tensor->shape.begin(), tensor->shape.end(), copy);
    *viewDims = copy;
    *viewDimsNum = tensor->shape.size();
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    if (tensor == nullptr || dataType == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    *dataType = tensor->type;
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    if (tensor == nullptr || format == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    *format = tensor->format;
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    if (array == nullptr || size == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    *size = array->values.size();
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
    if (tensorList == nullptr || size == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
    *size = tensorList->tensors.size();
    return ACLNN_SUCCESS;
}

void canopyOperatorTensor(const aclTensor* tensor, CanopyTensorView* view) {
    *view = {tensor->shape.data(), tensor->strides.data(), tensor->shape.size(), tensor->offset,
             tensor->type,         tensor->format,         tensor->data};
}

const aclTensor* canopyOperatorTensorAt(const aclTensorList* list, uint64_t index) {
    return index < list->tensors.size() ? list->tensors[index].get() : nullptr;
}

const int64_t* canopyOperatorInts(const aclIntArray* array, uint64_t* count) {
    *count = array->values.size();
    return array->values.data();
}

const float* canopyOperatorFloats(const aclFloatArray* array, uint64_t* count) {
    *count = array->values.size();
    return array->values.data();
}

const unsigned char* canopyOperatorBools(const aclBoolArray* array, uint64_t* count) {
    *count = array->values.size();
    return array->values.data();
}
