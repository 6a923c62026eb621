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
// A number that an operation takes as such, or from the first element of a tensor.
template <class Number>
inline void name_number(const Number& number) {
    if constexpr (is_tensor<Number>) name_counted("scalar", number, 1);
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

// Checks the place of a destination that gets `bytes` bytes of results from each of `repeats` repeats, and that its
// tensor contains them. In the checking variant: as check_extent.
template <class T>
inline void check_results(const char* operation, const LocalTensor<T>& dst, uint64_t bytes, uint64_t step,
                          uint64_t repeats, Where where) {
    if constexpr (is_checking_variant) {
        check_place(dst, operation, "the destination", where);
        add_walk(CANOPY_CHECK_WRITE, "the destination", dst, dst.GetPhyAddr(),
                 {bytes, step, static_cast<uint32_t>(repeats)});
    } else {
        check_vector_operand(operation, "the destination", dst, (repeats - 1) * step + bytes, where);
    }
}

// An operand that is accessed in many pieces, in the checking variant. Neighbours and pieces at equal distances become
// one access.
template <class Tensor>
class PiecesOfOperand {
public:
    PiecesOfOperand(uint8_t kind, const char* operand, const Tensor& tensor, uint64_t piece)
        : tensor_(tensor), operand_(operand), piece_(piece), kind_(kind) {}
    PiecesOfOperand(const PiecesOfOperand&) = delete;
    PiecesOfOperand& operator=(const PiecesOfOperand&) = delete;
    ~PiecesOfOperand() { finish(); }

    // `offset` counts bytes from the start of the tensor.
    void add(uint64_t offset) {
        if (pieces_ == 1 && offset > first_) step_ = offset - first_;
        if (pieces_ != 0 && step_ != 0 && offset == first_ + pieces_ * step_) {
            ++pieces_;
            return;
        }
        finish();
        first_ = offset;
        pieces_ = 1;
    }

private:
    void finish() {
        if (pieces_ != 0)
            add_walk(kind_, operand_, tensor_, reinterpret_cast<const unsigned char*>(tensor_.GetPhyAddr()) + first_,
                     {piece_, step_, pieces_});
        pieces_ = 0;
        step_ = 0;
    }

    const Tensor& tensor_;
    const char* operand_;
    uint64_t piece_, first_ = 0, step_ = 0;
    uint32_t pieces_ = 0;
    uint8_t kind_;
};

}  // namespace canopy::kernel

#endif
