// SPDX-License-Identifier: Apache-2.0
// Checks shared by the operations that move data, in addition to those of repeat.h. They do nothing except in checked
// builds.
#ifndef CANOPY_KERNEL_CORE_CHECK_H
#define CANOPY_KERNEL_CORE_CHECK_H

#include "canopy_kernel/core/repeat.h"

namespace canopy::kernel {

inline unsigned long long printable(uint64_t value) { return value; }

// Fails if a parameter is outside the allowed range.
inline void check_limit(const char* operation, const char* parameter, int64_t value, int64_t low, int64_t high,
                        Where where) {
    if constexpr (checked)
        if (value < low || value > high)
            fail(where, "%s: %s is %lld; it must be between %lld and %lld", operation, parameter,
                 static_cast<long long>(value), static_cast<long long>(low), static_cast<long long>(high));
}

// Fails if an access to the first `bytes` bytes of an operand exceeds its tensor.
template <class T>
inline void check_extent(const char* operation, const char* operand, const LocalTensor<T>& tensor, uint64_t bytes,
                         Where where) {
    if constexpr (checked)
        if (bytes > bytes_of<T>(tensor.GetSize()))
            fail(where, "%s: the %s ends at byte %llu of a tensor of %llu bytes (%u elements)", operation, operand,
                 printable(bytes), printable(bytes_of<T>(tensor.GetSize())), tensor.GetSize());
}
template <class T>
inline void check_extent(const char* operation, const char* operand, const GlobalTensor<T>& tensor, uint64_t bytes,
                         Where where) {
    if constexpr (checked)
        if (tensor.GetSize() != 0 && bytes > bytes_of<T>(tensor.GetSize()))
            fail(where, "%s: the %s ends at byte %llu of a global tensor of %llu bytes (%llu elements)", operation,
                 operand, printable(bytes), printable(bytes_of<T>(tensor.GetSize())), printable(tensor.GetSize()));
}

// Checks the place of a vector operand, and that its tensor contains the first `bytes` bytes.
template <class T>
inline void check_vector_operand(const char* operation, const char* operand, const LocalTensor<T>& tensor,
                                 uint64_t bytes, Where where) {
    if constexpr (checked) {
        check_place(tensor, operation, operand, where);
        check_reach(bytes, bytes_of<T>(tensor.GetSize()), operation, operand, where);
    }
}

}  // namespace canopy::kernel

#endif
