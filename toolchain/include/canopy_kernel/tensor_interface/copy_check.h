// SPDX-License-Identifier: Apache-2.0
// Checks of the operands of Te::Copy and Te::Mmad: memories and types when the kernel is compiled, addresses and
// extents in checked builds.
#ifndef CANOPY_KERNEL_TENSOR_COPY_CHECK_H
#define CANOPY_KERNEL_TENSOR_COPY_CHECK_H

#include "canopy_kernel/core/partner.h"
#include "canopy_kernel/tensor_interface/matrix_copy.h"

namespace canopy::kernel::te {

template <class Tensor>
using pattern_of = GetLayoutPattern<typename Tensor::layoutType>;

template <class Tensor, class... Locations>
inline constexpr bool is_in = is_any_of<typename Tensor::location, FoundByAddress, Locations...>;

// Patterns that an operand may have. A layout made from a shape and strides has no pattern and fits everywhere; NDExt
// and DNExt are ND and DN.
template <class Tensor, class... Patterns>
inline constexpr bool has_pattern =
    is_any_of<choose<is_same<pattern_of<Tensor>, NDExtLayoutPtn>, NDLayoutPtn,
                     choose<is_same<pattern_of<Tensor>, DNExtLayoutPtn>, DNLayoutPtn, pattern_of<Tensor>>>,
              Std::ignore_t, Patterns...>;

template <class Tensor>
inline auto address_of(const Tensor& tensor) {
    return tensor.Data().Get();
}
template <class Tensor>
inline Matrices view_of(const Tensor& tensor) {
    return matrices_of(tensor.Layout());
}

// Bytes from the first element to the end of the last one.
inline uint64_t extent_of(const Matrices& view, uint64_t bits) {
    if (view.count <= 0 || view.row.size() <= 0 || view.column.size() <= 0) return 0;
    const int64_t last =
        view.row.last(view.row.size()) + view.column.last(view.column.size()) + (view.count - 1) * view.apart;
    return (static_cast<uint64_t>(last + 1) * bits + 7) / 8;
}

__attribute__((noinline)) inline void check_global(const char* operation, const char* operand, const void* address,
                                                   Where where) {
    if (address == nullptr) fail(where, "%s: the %s is a tensor without memory", operation, operand);
    if (memory_holding(address) != Hardware::GM)
        fail(where, "%s: the %s is in %s; it must be in GM", operation, operand, name_of(memory_holding(address)));
}
__attribute__((noinline)) inline void check_local(const char* operation, const char* operand, const void* address,
                                                  uint64_t bytes, const MemoryRange& range, Where where) {
    const auto* byte = static_cast<const unsigned char*>(address);
    if (byte < range.base || byte >= range.base + range.size)
        fail(where, "%s: the %s is not in %s", operation, operand, range.name);
    const auto start = static_cast<uint64_t>(byte - range.base);
    if (start + bytes > range.size)
        fail(where, "%s: the %s ends at byte %llu of %s, which has %u", operation, operand, printable(start + bytes),
             range.name, range.size);
    if (start % block_bytes != 0)
        fail(where, "%s: the %s starts %u bytes past a multiple of 32 bytes of %s", operation, operand,
             static_cast<unsigned>(start % block_bytes), range.name);
}

template <class L, class Tensor>
inline void check_operand(const char* operation, const char* operand, const Tensor& tensor, const Matrices& view,
                          Where where) {
    if constexpr (checked) {
        using T = typename Tensor::valueType;
        if constexpr (is_same<L, Location::GM>)
            check_global(operation, operand, address_of(tensor), where);
        else
            check_local(operation, operand, address_of(tensor), extent_of(view, sizeof(T) * 8 / packing<T>),
                        range_of<L>(), where);
    }
}

// A copy of everything must fit.
__attribute__((noinline)) inline void check_fits(const char* operation, const Matrices& target, const Matrices& source,
                                                 Where where) {
    if constexpr (checked) {
        check_limit(operation, "the number of matrices", source.count, 1, 4095, where);
        if (source.row.size() > target.row.size() || source.column.size() > target.column.size() ||
            source.count > target.count)
            fail(where, "%s: %lld x %lld x %lld elements do not fit into a destination of %lld x %lld x %lld",
                 operation, static_cast<long long>(source.count), static_cast<long long>(source.row.size()),
                 static_cast<long long>(source.column.size()), static_cast<long long>(target.count),
                 static_cast<long long>(target.row.size()), static_cast<long long>(target.column.size()));
    }
}

template <class D, class S>
inline constexpr bool same_type = is_same<typename D::valueType, typename S::valueType>;

}  // namespace canopy::kernel::te

#endif
