// SPDX-License-Identifier: Apache-2.0
// Tensors and attributes in the host code of operators.
#ifndef CANOPY_EXE_GRAPH_TENSOR_H
#define CANOPY_EXE_GRAPH_TENSOR_H

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "shape.h"

namespace gert {

using TensorAddress = void*;

// Where the data of a tensor is. Host code of an operator may read it only if it is on the host.
enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };

class Tensor {
public:
    Tensor() = default;
    Tensor(const StorageShape& shape, const StorageFormat& format, ge::DataType type)
        : shape_(shape), format_(format), type_(type) {}
    Tensor(const StorageShape& shape, const StorageFormat& format, TensorPlacement placement, ge::DataType type,
           TensorAddress address)
        : shape_(shape), format_(format), type_(type), placement_(placement), address_(address) {}

    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    const StorageShape& GetShape() const { return shape_; }
    StorageShape& GetShape() { return shape_; }
    const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
    const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
    Shape& MutableOriginShape() { return shape_.MutableOriginShape(); }
    Shape& MutableStorageShape() { return shape_.MutableStorageShape(); }
    const StorageFormat& GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    ge::DataType GetDataType() const { return type_; }
    TensorPlacement GetPlacement() const { return placement_; }
    // In bytes.
    std::size_t GetSize() const {
        return (static_cast<std::size_t>(GetShapeSize()) * static_cast<std::size_t>(ge::GetSizeInBits(type_)) + 7) / 8;
    }
    const void* GetAddr() const { return address_; }
    void* GetAddr() { return address_; }
    template <class T>
    const T* GetData() const {
        return static_cast<const T*>(address_);
    }
    template <class T>
    T* GetData() {
        return static_cast<T*>(address_);
    }

    void SetDataType(ge::DataType type) { type_ = type; }
    void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
    void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }
    void SetPlacement(TensorPlacement placement) { placement_ = placement; }
    void SetAddr(TensorAddress address) { address_ = address; }

private:
    StorageShape shape_;
    StorageFormat format_;
    ge::DataType type_ = ge::DT_FLOAT;
    TensorPlacement placement_ = kOnDeviceHbm;
    TensorAddress address_ = nullptr;
};

// The type and format of a tensor without its shape.
class CompileTimeTensorDesc {
public:
    CompileTimeTensorDesc() = default;
    CompileTimeTensorDesc(ge::DataType type, const StorageFormat& format) : type_(type), format_(format) {}

    ge::DataType GetDataType() const { return type_; }
    const StorageFormat& GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }

private:
    ge::DataType type_ = ge::DT_FLOAT;
    StorageFormat format_;
};

template <class T>
class TypedContinuousVector {
public:
    explicit TypedContinuousVector(const std::vector<T>& values) : data_(values.data()), size_(values.size()) {}

    std::size_t GetSize() const { return size_; }
    const T* GetData() const { return data_; }

private:
    const T* data_;
    std::size_t size_;
};
using ContinuousVector = TypedContinuousVector<int64_t>;

// The values of an operator's attributes, in the order of their declaration.
class RuntimeAttrs {
public:
    using Bools = std::vector<unsigned char>;
    using Value = std::variant<bool, int64_t, float, std::string, Bools, std::vector<int64_t>, std::vector<float>>;

    explicit RuntimeAttrs(std::vector<Value> values = {}) : values_(std::move(values)) {
        for (const Value& value : values_) {
            const auto* whole = std::get_if<std::vector<int64_t>>(&value);
            const auto* real = std::get_if<std::vector<float>>(&value);
            ints_.emplace_back(whole == nullptr ? none_ : *whole);
            floats_.emplace_back(real == nullptr ? no_floats_ : *real);
        }
    }
    RuntimeAttrs(const RuntimeAttrs&) = delete;
    RuntimeAttrs& operator=(const RuntimeAttrs&) = delete;

    std::size_t GetAttrNum() const { return values_.size(); }

    // Null if there is no such attribute or it has another type.
    const bool* GetBool(std::size_t index) const { return get<bool>(index); }
    const int64_t* GetInt(std::size_t index) const { return get<int64_t>(index); }
    const float* GetFloat(std::size_t index) const { return get<float>(index); }
    const char* GetStr(std::size_t index) const {
        const auto* text = get<std::string>(index);
        return text == nullptr ? nullptr : text->c_str();
    }
    const TypedContinuousVector<int64_t>* GetListInt(std::size_t index) const {
        return get<std::vector<int64_t>>(index) == nullptr ? nullptr : &ints_[index];
    }
    const TypedContinuousVector<float>* GetListFloat(std::size_t index) const {
        return get<std::vector<float>>(index) == nullptr ? nullptr : &floats_[index];
    }

    template <class T>
    const T* GetAttrPointer(std::size_t index) const {
        if constexpr (std::is_same_v<T, char>)
            return GetStr(index);
        else if constexpr (std::is_same_v<T, TypedContinuousVector<int64_t>>)
            return GetListInt(index);
        else if constexpr (std::is_same_v<T, TypedContinuousVector<float>>)
            return GetListFloat(index);
        else
            return get<T>(index);
    }

private:
    template <class T>
    const T* get(std::size_t index) const {
        return index < values_.size() ? std::get_if<T>(&values_[index]) : nullptr;
    }

    std::vector<Value> values_;
    std::vector<int64_t> none_;
    std::vector<float> no_floats_;
    std::vector<TypedContinuousVector<int64_t>> ints_;
    std::vector<TypedContinuousVector<float>> floats_;
};

}  // namespace gert

#endif
