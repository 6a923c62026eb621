// SPDX-License-Identifier: Apache-2.0
// The instructions of the vector unit under their own names. The mask register selects the elements; strides count
// blocks of 32 bytes from start to start: first between blocks, then between repeats, the destination's first.
#ifndef CANOPY_KERNEL_INTRINSICS_VECTOR_H
#define CANOPY_KERNEL_INTRINSICS_VECTOR_H

#include "canopy_kernel/copy/copy.h"
#include "canopy_kernel/intrinsics/intrinsics.h"
#include "canopy_kernel/vector/gather.h"
#include "canopy_kernel/vector/merge_sort.h"
#include "canopy_kernel/vector/reduce_names.h"
#include "canopy_kernel/vector/reorder.h"
#include "canopy_kernel/vector/transpose.h"
#include "canopy_kernel/vector/vector_cast.h"
#include "canopy_kernel/vector/vector_compare.h"
#include "canopy_kernel/vector/vector_fill.h"
#include "canopy_kernel/vector/vector_scalar.h"
#include "canopy_kernel/vector/vector_select.h"
#include "canopy_kernel/vector/vector_ternary.h"

namespace canopy::intrinsics {

// Two sources.
#define CANOPY_BINARY_INSTRUCTION(name, ...)                                                                    \
    template <class T, class S>                                                                                 \
    inline void name(T* dst, S* src0, S* src1, uint8_t repeat, uint16_t dst_block, uint16_t src0_block,         \
                     uint16_t src1_block, uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat,      \
                     kernel::Where where = kernel::here()) {                                                    \
        AscendC::__VA_ARGS__(kernel::unified(dst), kernel::unified(src0), kernel::unified(src1),                \
                             AscendC::MASK_PLACEHOLDER, repeat,                                                 \
                             {dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat}, where); \
    }
CANOPY_BINARY_INSTRUCTION(vadd, Add<T, false>)
CANOPY_BINARY_INSTRUCTION(vsub, Sub<T, false>)
CANOPY_BINARY_INSTRUCTION(vmul, Mul<T, false>)
CANOPY_BINARY_INSTRUCTION(vdiv, Div<T, false>)
CANOPY_BINARY_INSTRUCTION(vmax, Max<T, false>)
CANOPY_BINARY_INSTRUCTION(vmin, Min<T, false>)
CANOPY_BINARY_INSTRUCTION(vand, And<T, false>)
CANOPY_BINARY_INSTRUCTION(vor, Or<T, false>)
CANOPY_BINARY_INSTRUCTION(vaddrelu, AddRelu<T, false>)
CANOPY_BINARY_INSTRUCTION(vsubrelu, SubRelu<T, false>)
CANOPY_BINARY_INSTRUCTION(vmla, MulAddDst<T, kernel::plain<S>, false>)  // dst = src0 * src1 + dst
CANOPY_BINARY_INSTRUCTION(vmadd, FusedMulAdd<T, false>)                 // dst = src0 * dst + src1
CANOPY_BINARY_INSTRUCTION(vmaddrelu, FusedMulAddRelu<T, false>)         // dst = max(src0 * dst + src1, 0)
#undef CANOPY_BINARY_INSTRUCTION

// One source.
#define CANOPY_UNARY_INSTRUCTION(name, Name)                                                                      \
    template <class T, class S>                                                                                   \
    inline void name(T* dst, S* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block, uint16_t dst_repeat, \
                     uint16_t src_repeat, kernel::Where where = kernel::here()) {                                 \
        AscendC::Name<T, false>(kernel::unified(dst), kernel::unified(src), AscendC::MASK_PLACEHOLDER, repeat,    \
                                {dst_block, src_block, dst_repeat, src_repeat}, where);                           \
    }
CANOPY_UNARY_INSTRUCTION(vabs, Abs)
CANOPY_UNARY_INSTRUCTION(vexp, Exp)
CANOPY_UNARY_INSTRUCTION(vln, Ln)
CANOPY_UNARY_INSTRUCTION(vsqrt, Sqrt)
CANOPY_UNARY_INSTRUCTION(vrsqrt, Rsqrt)
CANOPY_UNARY_INSTRUCTION(vrec, Reciprocal)
CANOPY_UNARY_INSTRUCTION(vnot, Not)
CANOPY_UNARY_INSTRUCTION(vrelu, Relu)
#undef CANOPY_UNARY_INSTRUCTION

// A source and a number.
#define CANOPY_SCALAR_INSTRUCTION(name, ...)                                                                        \
    template <class T, class S, class Number>                                                                       \
    inline void name(T* dst, S* src, Number number, uint8_t repeat, uint16_t dst_block, uint16_t src_block,         \
                     uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where = kernel::here()) {              \
        AscendC::__VA_ARGS__(kernel::unified(dst), kernel::unified(src), number, AscendC::MASK_PLACEHOLDER, repeat, \
                             {dst_block, src_block, dst_repeat, src_repeat}, where);                                \
    }
CANOPY_SCALAR_INSTRUCTION(vadds, Adds<T, false>)
CANOPY_SCALAR_INSTRUCTION(vmuls, Muls<T, false>)
CANOPY_SCALAR_INSTRUCTION(vmaxs, Maxs<T, false>)
CANOPY_SCALAR_INSTRUCTION(vmins, Mins<T, false>)
CANOPY_SCALAR_INSTRUCTION(vlrelu, LeakyRelu<T, false>)
CANOPY_SCALAR_INSTRUCTION(vaxpy, Axpy<T, kernel::plain<S>, false>)  // dst = src * number + dst
CANOPY_SCALAR_INSTRUCTION(vshl, ShiftLeft<T, false>)
#undef CANOPY_SCALAR_INSTRUCTION

// `round` adds the last bit that is shifted out.
template <class T, class S, class Number>
inline void vshr(T* dst, S* src, Number distance, uint8_t repeat, uint16_t dst_block, uint16_t src_block,
                 uint16_t dst_repeat, uint16_t src_repeat, bool round = false, kernel::Where where = kernel::here()) {
    AscendC::ShiftRight<T, false>(kernel::unified(dst), kernel::unified(src), distance, AscendC::MASK_PLACEHOLDER,
                                  repeat, {dst_block, src_block, dst_repeat, src_repeat}, round, where);
}

// Fills with one number. The number has no strides, but the instruction has parameters for them.
template <class T, class Number>
inline void vector_dup(T* dst, Number number, uint8_t repeat, uint16_t dst_block, uint16_t, uint16_t dst_repeat,
                       uint16_t, kernel::Where where = kernel::here()) {
    AscendC::Duplicate<T, false>(kernel::unified(dst), number, AscendC::MASK_PLACEHOLDER, repeat, dst_block,
                                 static_cast<uint8_t>(dst_repeat), where);
}

// One result per repeat. Maximum and minimum take an order of value and index.
enum class Order_t : uint8_t { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
template <class T, class S>
inline void vcadd(T* dst, S* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat,
                  bool into_register = false, kernel::Where where = kernel::here()) {
    if (into_register) kernel::fail(where, "vcadd: the sum of all repeats in a register is not supported");
    AscendC::WholeReduceSum<T, false>(kernel::unified(dst), kernel::unified(src), 0, repeat, dst_repeat, src_block,
                                      src_repeat, where);
}
#define CANOPY_EXTREME_INSTRUCTION(name, Name)                                                                     \
    template <class T, class S>                                                                                    \
    inline void name(T* dst, S* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat, \
                     Order_t order = Order_t::VALUE_INDEX, kernel::Where where = kernel::here()) {                 \
        AscendC::Name<T, false>(kernel::unified(dst), kernel::unified(src), 0, repeat, dst_repeat, src_block,      \
                                src_repeat, static_cast<AscendC::ReduceOrder>(order), where);                      \
    }
CANOPY_EXTREME_INSTRUCTION(vcmax, WholeReduceMax)
CANOPY_EXTREME_INSTRUCTION(vcmin, WholeReduceMin)
#undef CANOPY_EXTREME_INSTRUCTION

// One result per block, or per pair of neighbours.
#define CANOPY_GROUP_INSTRUCTION(name, Name)                                                                       \
    template <class T, class S>                                                                                    \
    inline void name(T* dst, S* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat, \
                     kernel::Where where = kernel::here()) {                                                       \
        AscendC::Name<T, false>(kernel::unified(dst), kernel::unified(src), repeat, 0, dst_repeat, src_block,      \
                                src_repeat, where);                                                                \
    }
CANOPY_GROUP_INSTRUCTION(vcgadd, BlockReduceSum)
CANOPY_GROUP_INSTRUCTION(vcgmax, BlockReduceMax)
CANOPY_GROUP_INSTRUCTION(vcgmin, BlockReduceMin)
CANOPY_GROUP_INSTRUCTION(vcpadd, PairReduceSum)
#undef CANOPY_GROUP_INSTRUCTION

// Comparisons: of one repeat into the compare mask, of all repeats into bits, and with a number into bits.
#define CANOPY_COMPARISON(name, MODE)                                                                                 \
    template <class T>                                                                                                \
    inline void vcmp_##name(T* src0, T* src1, uint8_t, uint16_t dst_block, uint16_t src0_block, uint16_t src1_block,  \
                            uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat,                          \
                            kernel::Where where = kernel::here()) {                                                   \
        AscendC::Compare<kernel::plain<T>, false>(                                                                    \
            kernel::unified(src0), kernel::unified(src1), AscendC::CMPMODE::MODE, AscendC::MASK_PLACEHOLDER,          \
            {dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat}, where);                        \
    }                                                                                                                 \
    template <class D, class T>                                                                                       \
    inline void vcmpv_##name(D* dst, T* src0, T* src1, uint8_t repeat, uint16_t dst_block, uint16_t src0_block,       \
                             uint16_t src1_block, uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat,    \
                             kernel::Where where = kernel::here()) {                                                  \
        AscendC::Compare<kernel::plain<T>, D, false>(                                                                 \
            kernel::unified(dst), kernel::unified(src0), kernel::unified(src1), AscendC::CMPMODE::MODE,               \
            AscendC::MASK_PLACEHOLDER, repeat,                                                                        \
            {dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat}, where);                        \
    }                                                                                                                 \
    template <class D, class T, class Number>                                                                         \
    inline void vcmpvs_##name(D* dst, T* src, Number number, uint8_t repeat, uint16_t dst_block, uint16_t src_block,  \
                              uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where = kernel::here()) {       \
        AscendC::CompareScalar<kernel::plain<T>, D, false>(kernel::unified(dst), kernel::unified(src), number,        \
                                                           AscendC::CMPMODE::MODE, AscendC::MASK_PLACEHOLDER, repeat, \
                                                           {dst_block, src_block, dst_repeat, src_repeat}, where);    \
    }
CANOPY_COMPARISON(lt, LT)
CANOPY_COMPARISON(gt, GT)
CANOPY_COMPARISON(eq, EQ)
CANOPY_COMPARISON(le, LE)
CANOPY_COMPARISON(ge, GE)
CANOPY_COMPARISON(ne, NE)
#undef CANOPY_COMPARISON

// The 16 bytes of the compare mask.
inline void get_cmpmask(void* dst, kernel::Where where = kernel::here()) {
    AscendC::GetCmpMask(kernel::unified(static_cast<uint8_t*>(dst)), where);
}
inline void set_cmpmask(const void* src, kernel::Where where = kernel::here()) {
    AscendC::SetCmpMask(kernel::unified(static_cast<const uint8_t*>(src)), where);
}

// Selects by the compare mask: src0 where the bit is set.
template <class T, class S>
inline void vsel(T* dst, S* src0, S* src1, uint8_t repeat, uint16_t dst_block, uint16_t src0_block, uint16_t src1_block,
                 uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat, uint8_t mode = 0,
                 kernel::Where where = kernel::here()) {
    if (mode != 0) kernel::fail(where, "vsel: mode %u is not supported; mode 0 reads the compare mask", mode);
    AscendC::Select<T>(kernel::unified(dst), kernel::unified(src0), kernel::unified(src1), repeat,
                       {dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat}, where);
}

// Eight elements per repeat, each filling a block.
template <class T>
inline void vbrcb(T* dst, T* src, uint16_t dst_block, uint16_t dst_repeat, uint8_t repeat,
                  kernel::Where where = kernel::here()) {
    AscendC::Brcb(kernel::unified(dst), kernel::unified(src), repeat, {dst_block, dst_repeat}, where);
}

// A square of 16 x 16 elements of 16 bits.
template <class T>
inline void vtranspose(T* dst, T* src, kernel::Where where = kernel::here()) {
    AscendC::Transpose(kernel::unified(dst), kernel::unified(src), where);
}

// Copies elements unchanged, by mask and strides.
template <class T, class S>
inline void vcopy(T* dst, S* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block, uint16_t dst_repeat,
                  uint16_t src_repeat, kernel::Where where = kernel::here()) {
    AscendC::Copy<T, false>(kernel::unified(dst), kernel::unified(src), AscendC::MASK_PLACEHOLDER, repeat,
                            {dst_block, src_block, dst_repeat, src_repeat}, where);
}

// Gathers elements by byte offsets from `base`, a 32-bit address in the unified buffer.
template <class T>
inline void vgather(T* dst, uint32_t* offsets, uint32_t base, uint16_t dst_repeat, uint8_t repeat,
                    kernel::Where where = kernel::here()) {
    constexpr uint32_t size = kernel::memory_size(kernel::Hardware::UB);
    const auto start = reinterpret_cast<uintptr_t>(kernel::memory_base(kernel::Hardware::UB));
    const uint32_t byte = base < size ? base : base - static_cast<uint32_t>(start);
    kernel::gather(kernel::unified(dst), kernel::unified(static_cast<T*>(nullptr)), kernel::unified(offsets), byte,
                   kernel::select<false>(kernel::lanes<T>, uint64_t{0}, repeat), dst_repeat, where);
}

// Sorts 32 scores per repeat, largest first; each goes with its index into 8 bytes.
template <class T>
inline void vbitsort(T* dst, T* scores, uint32_t* indexes, uint8_t repeat, kernel::Where where = kernel::here()) {
    AscendC::Sort32(kernel::unified(dst), kernel::unified(scores), kernel::unified(indexes), repeat, where);
}

// Keeps the elements that a pattern selects: 0: the bits of `pattern`; 1 to 7: a fixed one. get_rsvd_cnt() returns how
// many.
template <class T>
inline void vreducev2(T* dst, T* src, T* pattern, uint16_t repeat, uint8_t src_block, uint8_t number,
                      uint16_t src_repeat, uint8_t pattern_repeat, kernel::Where where = kernel::here()) {
    const auto& state = kernel::core_state();
    const AscendC::GatherMaskParams params(src_block, repeat, src_repeat, pattern_repeat);
    const auto count = static_cast<uint32_t>(state.mask[0]);
    uint64_t kept = 0;
    if (number == 0)
        AscendC::GatherMask(kernel::unified(dst), kernel::unified(src), kernel::unified(pattern), state.counter_mode,
                            count, params, kept, where);
    else
        AscendC::GatherMask(kernel::unified(dst), kernel::unified(src), number, state.counter_mode, count, params, kept,
                            where);
}
inline int64_t get_rsvd_cnt() { return static_cast<int64_t>(kernel::core_state().gathered); }

// Conversions. The last letter of a name is the rounding: to nearest (r), down (f), up (c), half away from zero (a),
// towards zero (z), to odd (o).
#define CANOPY_CONVERSION(name, D, S, mode)                                                                           \
    template <class T, class U>                                                                                       \
    inline void vconv_##name(T* dst, U* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block,                  \
                             uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where = kernel::here()) {        \
        static_assert(kernel::is_same<T, D> && kernel::is_same<kernel::plain<U>, S>,                                  \
                      "vconv_" #name " makes " #D " from " #S);                                                       \
        AscendC::Cast<D, S, false>(kernel::unified(dst), kernel::unified(src), AscendC::RoundMode::mode,              \
                                   AscendC::MASK_PLACEHOLDER, repeat, {dst_block, src_block, dst_repeat, src_repeat}, \
                                   where);                                                                            \
    }
#define CANOPY_ROUNDED_CONVERSION(name, D, S)    \
    CANOPY_CONVERSION(name##r, D, S, CAST_RINT)  \
    CANOPY_CONVERSION(name##f, D, S, CAST_FLOOR) \
    CANOPY_CONVERSION(name##c, D, S, CAST_CEIL)  \
    CANOPY_CONVERSION(name##a, D, S, CAST_ROUND) \
    CANOPY_CONVERSION(name##z, D, S, CAST_TRUNC)
CANOPY_CONVERSION(f162f32, float, half, CAST_NONE)
CANOPY_CONVERSION(bf162f32, float, bfloat16_t, CAST_NONE)
CANOPY_CONVERSION(s162f32, float, int16_t, CAST_NONE)
CANOPY_CONVERSION(s162f16, half, int16_t, CAST_NONE)
CANOPY_CONVERSION(s82f16, half, int8_t, CAST_NONE)
CANOPY_CONVERSION(u82f16, half, uint8_t, CAST_NONE)
CANOPY_CONVERSION(s322f32, float, int32_t, CAST_NONE)
CANOPY_CONVERSION(s322s16, int16_t, int32_t, CAST_NONE)
CANOPY_CONVERSION(s322s64, int64_t, int32_t, CAST_NONE)
CANOPY_CONVERSION(s642s32, int32_t, int64_t, CAST_NONE)
CANOPY_CONVERSION(f322f16, half, float, CAST_NONE)
CANOPY_CONVERSION(f322f16o, half, float, CAST_ODD)
CANOPY_CONVERSION(f162s8, int8_t, half, CAST_NONE)
CANOPY_CONVERSION(f162u8, uint8_t, half, CAST_NONE)
CANOPY_CONVERSION(deq, half, int32_t, CAST_NONE)
CANOPY_ROUNDED_CONVERSION(f322f16, half, float)
CANOPY_ROUNDED_CONVERSION(f322bf16, bfloat16_t, float)
CANOPY_ROUNDED_CONVERSION(f322s32, int32_t, float)
CANOPY_ROUNDED_CONVERSION(f322s16, int16_t, float)
CANOPY_ROUNDED_CONVERSION(f322s64, int64_t, float)
CANOPY_ROUNDED_CONVERSION(f322f32, float, float)
CANOPY_ROUNDED_CONVERSION(f162s32, int32_t, half)
CANOPY_ROUNDED_CONVERSION(f162s16, int16_t, half)
CANOPY_ROUNDED_CONVERSION(f162s8, int8_t, half)
CANOPY_ROUNDED_CONVERSION(f162u8, uint8_t, half)
CANOPY_ROUNDED_CONVERSION(bf162s32, int32_t, bfloat16_t)
CANOPY_ROUNDED_CONVERSION(s322f32, float, int32_t)
CANOPY_ROUNDED_CONVERSION(s162f16, half, int16_t)
CANOPY_ROUNDED_CONVERSION(s642f32, float, int64_t)
#undef CANOPY_ROUNDED_CONVERSION
#undef CANOPY_CONVERSION

}  // namespace canopy::intrinsics

#endif
