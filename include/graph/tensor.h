// SPDX-License-Identifier: Apache-2.0
// Shapes as the functions of tiling/tiling_api.h take them.
#ifndef CANOPY_GRAPH_TENSOR_H
#define CANOPY_GRAPH_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "types.h"

namespace ge {

class Shape {
public:
    Shape() = default;
    explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
    Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}

    std::size_t GetDimNum() const { return dims_.size(); }
    // 0 if there is no such dimension.
    int64_t GetDim(std::size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
    graphStatus SetDim(std::size_t index, int64_t value) {
        if (index >= dims_.size()) return GRAPH_FAILED;
        dims_[index] = value;
        return GRAPH_SUCCESS;
    }
    std::vector<int64_t> GetDims() const { return dims_; }
    // 0 without dimensions, -1 if one is unknown.
    int64_t GetShapeSize() const {
        if (dims_.empty()) return 0;
        int64_t size = 1;
        for (const int64_t dim : dims_) {
            if (dim < 0) return -1;
            size *= dim;
        }
        return size;
    }

private:
    std::vector<int64_t> dims_;
};

}  // namespace ge

#endif
