// SPDX-License-Identifier: Apache-2.0
// The scratch tensor that callers of whole-tensor operations may pass. Nothing here needs it, so its size does not
// matter; on the chip it would be overwritten, so it must not overlap an operand.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_WORK_SPACE_H
#define CANOPY_KERNEL_HIGH_LEVEL_WORK_SPACE_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/check.h"

namespace canopy::kernel {

template <class A, class B>
inline bool overlap(const LocalTensor<A>& a, const LocalTensor<B>& b) {
    const auto first = reinterpret_cast<uintptr_t>(a.GetPhyAddr()),
               second = reinterpret_cast<uintptr_t>(b.GetPhyAddr());
    return first < second + b.GetLength() && second < first + a.GetLength();
}

// Begins a call with a work space; the instruction inside it is the same one.
class WorkSpace : JoinedInstruction {
public:
    template <class... T>
    WorkSpace(const char* operation, const LocalTensor<uint8_t>& work, Where where, const LocalTensor<T>&... operands)
        : JoinedInstruction(PIPE_V, operation, where) {
        if constexpr (is_checking_variant)
            if (!on_cube_core()) writes("sharedTmpBuffer", work, work.GetSize());
        if constexpr (checked) {
            check_place(work, operation, "the work space", where);
            if ((overlap(work, operands) || ...)) fail(where, "%s: the work space overlaps an operand", operation);
        }
    }
};

// Fails unless a number is a multiple of the elements of T in 32 bytes.
template <class T>
inline void check_whole_blocks(const char* operation, const char* what, uint64_t elements, Where where) {
    if constexpr (checked)
        if (bytes_of<T>(elements) % block_bytes != 0)
            fail(where, "%s: %s is %llu; it must fill whole blocks of 32 bytes (a multiple of %llu)", operation, what,
                 printable(elements), printable(elements_in<T>(block_bytes)));
}

}  // namespace canopy::kernel

#endif
