// SPDX-License-Identifier: Apache-2.0
// One operation on the elements of two tensors, as the host passes it to the kernels of elementwise.asc.
#pragma once

#include <cstdint>

namespace canopy::operators {

enum class Operation : std::uint32_t { add, multiply };

// The types of acl/acl_base.h that the kernels support, with the same numbers.
enum class Element : std::int32_t {
    float32 = 0,
    float16 = 1,
    int8 = 2,
    int32 = 3,
    uint8 = 4,
    int16 = 6,
    int64 = 9,
    float64 = 11,
    bfloat16 = 27
};

constexpr std::uint32_t max_rank = 8;

// Passed to kernels by value. Strides count elements; 0 repeats one element along a dimension.
struct Elementwise {
    Operation operation = Operation::add;
    Element element = Element::float32;
    const void* self = nullptr;
    const void* other = nullptr;
    void* out = nullptr;
    std::uint64_t count = 0;
    std::uint32_t rank = 0;
    std::uint32_t dense = 0;  // all three are contiguous, in the same order
    std::int64_t shape[max_rank] = {};
    std::int64_t self_strides[max_rank] = {};
    std::int64_t other_strides[max_rank] = {};
    std::int64_t out_strides[max_rank] = {};
    double alpha = 1;              // for floats
    std::int64_t whole_alpha = 1;  // for integers
};

// Queues the work; returns 0 or an error code of the runtime. One function per chip architecture with an image.
int launch_2201(const Elementwise& work, void* stream);
int launch_3510(const Elementwise& work, void* stream);

}  // namespace canopy::operators
