// SPDX-License-Identifier: Apache-2.0
// Checks shared by the operations that move data, in addition to those of repeat.h. They do nothing except in checked
// builds; in the checking variant they name the operands of the open instruction (canopy_kernel/core/checking.h).
#ifndef CANOPY_KERNEL_CORE_CHECK_H
#define CANOPY_KERNEL_CORE_CHECK_H

#include "canopy_kernel/core/repeat.h"

namespace canopy::kernel {

inline unsigned long long printable(uint64_t value) { return value; }

// Refuses a parameter outside the allowed range.
inline void check_limit(const char* operation, const char* parameter, int64_t value, int64_t low, int64_t high,
                        Where where) {
    if constexpr (tests_parameters)
        if (value < low || value > high)
            refuse("memory.limit", where, "%s: %s is %lld; it must be between %lld and %lld", operation, parameter,
                   static_cast<long long>(value), static_cast<long long>(low), static_cast<long long>(high));
}

// Fails if an access to the first `bytes` bytes of an operand exceeds its tensor. In the checking variant: these bytes
// are an operand of the open instruction, written if its name says so.
template <class T>
inline void check_extent(const char* operation, const char* operand, const LocalTensor<T>& tensor, uint64_t bytes,
                         Where where) {
    if constexpr (is_checking_variant)
        add_operand(access_kind(operand), operand, tensor, bytes);
    else if constexpr (checked)
        if (bytes > bytes_of<T>(tensor.GetSize()))
            fail(where, "%s: the %s ends at byte %llu of a tensor of %llu bytes (%u elements)", operation, operand,
                 printable(bytes), printable(bytes_of<T>(tensor.GetSize())), tensor.GetSize());
}
template <class T>
inline void check_extent(const char* operation, const char* operand, const GlobalTensor<T>& tensor, uint64_t bytes,
                         Where where) {
    if constexpr (is_checking_variant)
        add_operand(access_kind(operand), operand, tensor, bytes);
    else if constexpr (checked)
        if (tensor.GetSize() != 0 && bytes > bytes_of<T>(tensor.GetSize()))
            fail(where, "%s: the %s ends at byte %llu of a global tensor of %llu bytes (%llu elements)", operation,
                 operand, printable(bytes), printable(bytes_of<T>(tensor.GetSize())), printable(tensor.GetSize()));
}

template <class T>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<LocalTensor<T>> = true;

// In the checking variant: the first elements of a tensor are an operand of the open instruction.
template <class T>
inline void name_counted(const char* operand, const LocalTensor<T>& tensor, uint64_t count) {
    add_operand(access_kind(operand), operand, tensor, bytes_of<T>(count));
}
// Numbers that an operation takes as such or from the first elements of tensors.
template <class... Numbers>
inline void name_numbers(const Numbers&... numbers) {
    const auto name = [](const auto& number) {
        if constexpr (is_tensor<plain<decltype(number)>>) name_counted("scalar", number, 1);
    };
    (name(numbers), ...);
}

// Checks the place of a vector operand, and that its tensor contains the first `bytes` bytes. In the checking variant:
// as check_extent; `kind` is for operands whose names do not say whether they are written (CanopyCheckAccessKind).
template <class T>
inline void check_vector_operand(const char* operation, const char* operand, const LocalTensor<T>& tensor,
                                 uint64_t bytes, Where where, uint8_t kind = 0) {
    if constexpr (tests_parameters) {
        check_place(tensor, operation, operand, where);
        if constexpr (is_checking_variant)
            add_operand(kind == 0 ? access_kind(operand) : kind, operand, tensor, bytes);
        else
            check_reach(bytes, bytes_of<T>(tensor.GetSize()), operation, operand, where);
    }
}

}  // namespace canopy::kernel

#endif
