// SPDX-License-Identifier: Apache-2.0
// Shapes in the host code of operators.
#ifndef CANOPY_EXE_GRAPH_SHAPE_H
#define CANOPY_EXE_GRAPH_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "../../graph/types.h"

namespace gert {

class Shape {
public:
    static constexpr std::size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = INT64_MIN;

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) {
        for (const int64_t dim : dims) AppendDim(dim);
    }

    std::size_t GetDimNum() const { return count_; }
    int64_t GetDim(std::size_t index) const { return index < count_ ? dims_[index] : kInvalidDimValue; }
    // 1 without dimensions.
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (std::size_t i = 0; i < count_; ++i) size *= dims_[i];
        return size;
    }
    bool IsScalar() const { return count_ == 0; }
    void SetScalar() { count_ = 0; }
    void SetDimNum(std::size_t count) { count_ = count < kMaxDimNum ? count : kMaxDimNum; }
    void SetDim(std::size_t index, int64_t value) {
        if (index < kMaxDimNum) dims_[index] = value;
    }
    // A dimension beyond the largest number of them is dropped.
    Shape& AppendDim(int64_t value) {
        if (count_ < kMaxDimNum) dims_[count_++] = value;
        return *this;
    }
    const int64_t& operator[](std::size_t index) const { return dims_[index]; }
    int64_t& operator[](std::size_t index) { return dims_[index]; }

    bool operator==(const Shape& other) const {
        if (count_ != other.count_) return false;
        for (std::size_t i = 0; i < count_; ++i)
            if (dims_[i] != other.dims_[i]) return false;
        return true;
    }
    bool operator!=(const Shape& other) const { return !(*this == other); }

private:
    std::size_t count_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

// The shape as the program knows it, and as the data lies in memory.
class StorageShape {
public:
    StorageShape() = default;
    StorageShape(const Shape& origin, const Shape& storage) : origin_(origin), storage_(storage) {}
    StorageShape(std::initializer_list<int64_t> origin, std::initializer_list<int64_t> storage)
        : origin_(origin), storage_(storage) {}

    const Shape& GetOriginShape() const { return origin_; }
    const Shape& GetStorageShape() const { return storage_; }
    Shape& MutableOriginShape() { return origin_; }
    Shape& MutableStorageShape() { return storage_; }
    bool operator==(const StorageShape& other) const { return origin_ == other.origin_ && storage_ == other.storage_; }
    bool operator!=(const StorageShape& other) const { return !(*this == other); }

private:
    Shape origin_, storage_;
};

class StorageFormat {
public:
    StorageFormat() = default;
    StorageFormat(ge::Format origin, ge::Format storage) : origin_(origin), storage_(storage) {}

    ge::Format GetOriginFormat() const { return origin_; }
    ge::Format GetStorageFormat() const { return storage_; }
    void SetOriginFormat(ge::Format format) { origin_ = format; }
    void SetStorageFormat(ge::Format format) { storage_ = format; }

private:
    ge::Format origin_ = ge::FORMAT_ND, storage_ = ge::FORMAT_ND;
};

}  // namespace gert

#endif
