// SPDX-License-Identifier: Apache-2.0
// Vector functions of the C interface on pointers into the unified buffer, for chips with a vector mask register. A
// function has two forms: on the first `count` elements; and on repeats of the lanes in the mask register, with strides
// in blocks of 32 bytes. vector_names.h lists the functions, this file defines the forms.
#ifndef CANOPY_KERNEL_C_INTERFACE_VECTOR_2201_H
#define CANOPY_KERNEL_C_INTERFACE_VECTOR_2201_H

#include "canopy_kernel/c_interface/support.h"

namespace canopy::c_interface {

using namespace intrinsics;

// Instructions that intrinsics_vector.h does not have, with the parameters of those it has.
#define CANOPY_C_RECTIFIED(name, instruction, Casting)                                                                 \
    template <class T, class S>                                                                                        \
    inline void name(T* dst, S* src0, S* src1, uint8_t repeat, uint16_t dst_block, uint16_t src0_block,                \
                     uint16_t src1_block, uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat,             \
                     kernel::Where where) {                                                                            \
        if constexpr (kernel::is_same<T, kernel::plain<S>>)                                                            \
            instruction(dst, src0, src1, repeat, dst_block, src0_block, src1_block, dst_repeat, src0_repeat,           \
                        src1_repeat, where);                                                                           \
        else                                                                                                           \
            AscendC::Casting<T, kernel::plain<S>, false>(                                                              \
                kernel::unified(dst), kernel::unified(src0), kernel::unified(src1), AscendC::MASK_PLACEHOLDER, repeat, \
                {dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat}, where);                     \
    }
CANOPY_C_RECTIFIED(add_rectified, vaddrelu, AddReluCast)
CANOPY_C_RECTIFIED(subtract_rectified, vsubrelu, SubReluCast)
CANOPY_C_RECTIFIED(multiply_cast, vmul, MulCast)
#undef CANOPY_C_RECTIFIED

template <class T, class S>
inline void subtract_number(T* dst, S* src, T value, uint8_t repeat, uint16_t dst_block, uint16_t src_block,
                            uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where) {
    AscendC::Subs<T, false>(kernel::unified(dst), kernel::unified(src), value, AscendC::MASK_PLACEHOLDER, repeat,
                            {dst_block, src_block, dst_repeat, src_repeat}, where);
}

// Bits that are shifted out round the result: half up.
template <class T, class S>
inline void shift_right_rounded(T* dst, S* src, int32_t value, uint8_t repeat, uint16_t dst_block, uint16_t src_block,
                                uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where) {
    vshr(dst, src, value, repeat, dst_block, src_block, dst_repeat, src_repeat, true, where);
}
template <class T, class S, class Distance>
inline void shift_right(T* dst, S* src, Distance value, uint8_t repeat, uint16_t dst_block, uint16_t src_block,
                        uint16_t dst_repeat, uint16_t src_repeat, kernel::Where where) {
    vshr(dst, src, value, repeat, dst_block, src_block, dst_repeat, src_repeat, false, where);
}

template <class T, class S>
inline void select_by_mask(T* dst, S* src0, S* src1, uint8_t repeat, uint16_t dst_block, uint16_t src0_block,
                           uint16_t src1_block, uint16_t dst_repeat, uint16_t src0_repeat, uint16_t src1_repeat,
                           kernel::Where where) {
    vsel(dst, src0, src1, repeat, dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat, 0, where);
}

template <class T, class S>
inline void sum_of_repeats(T* dst, S* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, uint16_t src_repeat,
                           kernel::Where where) {
    vcadd(dst, src, repeat, dst_repeat, src_block, src_repeat, false, where);
}

}  // namespace canopy::c_interface

#define CANOPY_C_TYPES(name, ...) \
    static_assert(canopy::kernel::is_any_of<T, __VA_ARGS__>, #name ": the element types are " #__VA_ARGS__);
#define CANOPY_C_PAIRS(name, ...)                                                            \
    using canopy::c_interface::Pair;                                                         \
    static_assert(canopy::kernel::is_any_of<Pair<T, canopy::kernel::plain<S>>, __VA_ARGS__>, \
                  #name ": the types of destination and sources are " #__VA_ARGS__);

// One source.
#define CANOPY_C_UNARY(name, instruction, ...)                                                                       \
    template <class T>                                                                                               \
    inline void name(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                           \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                            \
        canopy::c_interface::on_elements(count,                                                                      \
                                         [&] { canopy::c_interface::instruction(dst, src, 1, 1, 1, 8, 8, where); }); \
    }                                                                                                                \
    template <class T>                                                                                               \
    inline void name(T* dst, const T* src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride,     \
                     uint16_t dst_repeat_stride, uint16_t src_repeat_stride, CANOPY_WHERE) {                         \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                            \
        canopy::c_interface::instruction(dst, src, repeat, dst_block_stride, src_block_stride, dst_repeat_stride,    \
                                         src_repeat_stride, where);                                                  \
    }                                                                                                                \
    template <class T>                                                                                               \
    inline void name##_sync(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                    \
        name(dst, src, count, where);                                                                                \
        canopy::c_interface::finish(where);                                                                          \
    }

// Two sources of the destination's type.
#define CANOPY_C_BINARY(name, instruction, ...)                                                                        \
    template <class T>                                                                                                 \
    inline void name(T* dst, const T* src0, const T* src1, uint32_t count, CANOPY_WHERE) {                             \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                              \
        canopy::c_interface::on_elements(                                                                              \
            count, [&] { canopy::c_interface::instruction(dst, src0, src1, 1, 1, 1, 1, 8, 8, 8, where); });            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(T* dst, const T* src0, const T* src1, uint8_t repeat, uint8_t dst_block_stride,                   \
                     uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,                  \
                     uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {                           \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                              \
        canopy::c_interface::instruction(dst, src0, src1, repeat, dst_block_stride, src0_block_stride,                 \
                                         src1_block_stride, dst_repeat_stride, src0_repeat_stride, src1_repeat_stride, \
                                         where);                                                                       \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name##_sync(T* dst, const T* src0, const T* src1, uint32_t count, CANOPY_WHERE) {                      \
        name(dst, src0, src1, count, where);                                                                           \
        canopy::c_interface::finish(where);                                                                            \
    }

// Two sources of one type, a destination of another.
#define CANOPY_C_MIXED(name, instruction, ...)                                                                         \
    template <class T, class S>                                                                                        \
    inline void name(T* dst, S* src0, S* src1, uint32_t count, CANOPY_WHERE) {                                         \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                                              \
        using canopy::c_interface::step;                                                                               \
        canopy::c_interface::on_elements(count, [&] {                                                                  \
            canopy::c_interface::instruction(dst, src0, src1, 1, 1, 1, 1, step<T, S>, step<S, T>, step<S, T>, where);  \
        });                                                                                                            \
    }                                                                                                                  \
    template <class T, class S>                                                                                        \
    inline void name(T* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block_stride, uint8_t src0_block_stride,    \
                     uint8_t src1_block_stride, uint8_t dst_repeat_stride, uint8_t src0_repeat_stride,                 \
                     uint8_t src1_repeat_stride, CANOPY_WHERE) {                                                       \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                                              \
        canopy::c_interface::instruction(dst, src0, src1, repeat, dst_block_stride, src0_block_stride,                 \
                                         src1_block_stride, dst_repeat_stride, src0_repeat_stride, src1_repeat_stride, \
                                         where);                                                                       \
    }                                                                                                                  \
    template <class T, class S>                                                                                        \
    inline void name##_sync(T* dst, S* src0, S* src1, uint32_t count, CANOPY_WHERE) {                                  \
        name(dst, src0, src1, count, where);                                                                           \
        canopy::c_interface::finish(where);                                                                            \
    }

// A source and a number of its type.
#define CANOPY_C_MIXED_SCALAR(name, instruction, ...)                                                                 \
    template <class T, class S>                                                                                       \
    inline void name(T* dst, S* src, canopy::c_interface::number<S> value, uint32_t count, CANOPY_WHERE) {            \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                                             \
        using canopy::c_interface::step;                                                                              \
        canopy::c_interface::on_elements(count, [&] {                                                                 \
            canopy::c_interface::instruction(dst, src, value, 1, 1, 1, step<T, S>, step<S, T>, where);                \
        });                                                                                                           \
    }                                                                                                                 \
    template <class T, class S>                                                                                       \
    inline void name(T* dst, S* src, canopy::c_interface::number<S> value, uint8_t repeat, uint16_t dst_block_stride, \
                     uint16_t src_block_stride, uint16_t dst_repeat_stride, uint16_t src_repeat_stride,               \
                     CANOPY_WHERE) {                                                                                  \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                                             \
        canopy::c_interface::instruction(dst, src, value, repeat, dst_block_stride, src_block_stride,                 \
                                         dst_repeat_stride, src_repeat_stride, where);                                \
    }                                                                                                                 \
    template <class T, class S>                                                                                       \
    inline void name##_sync(T* dst, S* src, canopy::c_interface::number<S> value, uint32_t count, CANOPY_WHERE) {     \
        name(dst, src, value, count, where);                                                                          \
        canopy::c_interface::finish(where);                                                                           \
    }

// A source and a number: of the element type, or the distance of a shift.
#define CANOPY_C_NUMBER(name, instruction, Number, ...)                                                 \
    template <class T>                                                                                  \
    inline void name(T* dst, const T* src, Number value, uint32_t count, CANOPY_WHERE) {                \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                               \
        canopy::c_interface::on_elements(                                                               \
            count, [&] { canopy::c_interface::instruction(dst, src, value, 1, 1, 1, 8, 8, where); });   \
    }                                                                                                   \
    template <class T>                                                                                  \
    inline void name(T* dst, const T* src, Number value, uint8_t repeat, uint16_t dst_block_stride,     \
                     uint16_t src_block_stride, uint16_t dst_repeat_stride, uint16_t src_repeat_stride, \
                     CANOPY_WHERE) {                                                                    \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                               \
        canopy::c_interface::instruction(dst, src, value, repeat, dst_block_stride, src_block_stride,   \
                                         dst_repeat_stride, src_repeat_stride, where);                  \
    }                                                                                                   \
    template <class T>                                                                                  \
    inline void name##_sync(T* dst, const T* src, Number value, uint32_t count, CANOPY_WHERE) {         \
        name(dst, src, value, count, where);                                                            \
        canopy::c_interface::finish(where);                                                             \
    }
#define CANOPY_C_SCALAR(name, instruction, ...) \
    CANOPY_C_NUMBER(name, instruction, canopy::c_interface::number<T>, __VA_ARGS__)
#define CANOPY_C_SHIFT(name, instruction, ...) CANOPY_C_NUMBER(name, instruction, int64_t, __VA_ARGS__)

// One result per block, per pair or per repeat.
#define CANOPY_C_GROUP(name, instruction, ...)                                                                     \
    template <class T>                                                                                             \
    inline void name(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                         \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                          \
        canopy::c_interface::on_elements(count,                                                                    \
                                         [&] { canopy::c_interface::instruction(dst, src, 1, 1, 1, 8, where); });  \
    }                                                                                                              \
    template <class T>                                                                                             \
    inline void name(T* dst, const T* src, uint8_t repeat, uint16_t dst_repeat_stride, uint16_t src_block_stride,  \
                     uint16_t src_repeat_stride, CANOPY_WHERE) {                                                   \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                          \
        canopy::c_interface::instruction(dst, src, repeat, dst_repeat_stride, src_block_stride, src_repeat_stride, \
                                         where);                                                                   \
    }                                                                                                              \
    template <class T>                                                                                             \
    inline void name##_sync(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                  \
        name(dst, src, count, where);                                                                              \
        canopy::c_interface::finish(where);                                                                        \
    }

// The largest or smallest element of each repeat, its index, or both.
#define CANOPY_C_EXTREME(name, instruction, order, ...)                                                            \
    template <class T>                                                                                             \
    inline void name(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                         \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                          \
        canopy::c_interface::on_elements(count, [&] {                                                              \
            canopy::c_interface::instruction(dst, src, 1, 1, 1, 8, canopy::c_interface::Order_t::order, where);    \
        });                                                                                                        \
    }                                                                                                              \
    template <class T>                                                                                             \
    inline void name(T* dst, const T* src, uint8_t repeat, uint16_t dst_repeat_stride, uint16_t src_block_stride,  \
                     uint16_t src_repeat_stride, CANOPY_WHERE) {                                                   \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                          \
        canopy::c_interface::instruction(dst, src, repeat, dst_repeat_stride, src_block_stride, src_repeat_stride, \
                                         canopy::c_interface::Order_t::order, where);                              \
    }                                                                                                              \
    template <class T>                                                                                             \
    inline void name##_sync(T* dst, const T* src, uint32_t count, CANOPY_WHERE) {                                  \
        name(dst, src, count, where);                                                                              \
        canopy::c_interface::finish(where);                                                                        \
    }

// Bits of a comparison: of all repeats into a buffer, or of one repeat into the compare mask.
#define CANOPY_C_COMPARISON(name, relation, ...)                                                                  \
    template <class T>                                                                                            \
    inline void name(uint8_t* dst, const T* src0, const T* src1, uint8_t repeat, uint8_t dst_block_stride,        \
                     uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,             \
                     uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {                      \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                         \
        canopy::c_interface::vcmpv_##relation(dst, src0, src1, repeat, dst_block_stride, src0_block_stride,       \
                                              src1_block_stride, dst_repeat_stride, src0_repeat_stride,           \
                                              src1_repeat_stride, where);                                         \
    }                                                                                                             \
    template <class T>                                                                                            \
    inline void name(const T* src0, const T* src1, uint8_t repeat, uint8_t dst_block_stride,                      \
                     uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,             \
                     uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {                      \
        CANOPY_C_TYPES(name, half, float)                                                                         \
        canopy::c_interface::vcmp_##relation(src0, src1, repeat, dst_block_stride, src0_block_stride,             \
                                             src1_block_stride, dst_repeat_stride, src0_repeat_stride,            \
                                             src1_repeat_stride, where);                                          \
    }                                                                                                             \
    template <class T>                                                                                            \
    inline void name##_sync(uint8_t* dst, const T* src0, const T* src1, uint8_t repeat, uint8_t dst_block_stride, \
                            uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,      \
                            uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {               \
        name(dst, src0, src1, repeat, dst_block_stride, src0_block_stride, src1_block_stride, dst_repeat_stride,  \
             src0_repeat_stride, src1_repeat_stride, where);                                                      \
        canopy::c_interface::finish(where);                                                                       \
    }                                                                                                             \
    template <class T>                                                                                            \
    inline void name##_sync(const T* src0, const T* src1, uint8_t repeat, uint8_t dst_block_stride,               \
                            uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,      \
                            uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {               \
        name(src0, src1, repeat, dst_block_stride, src0_block_stride, src1_block_stride, dst_repeat_stride,       \
             src0_repeat_stride, src1_repeat_stride, where);                                                      \
        canopy::c_interface::finish(where);                                                                       \
    }
#define CANOPY_C_COMPARISON_SCALAR(name, relation, ...)                                                         \
    template <class T>                                                                                          \
    inline void name(uint8_t* dst, const T* src, canopy::c_interface::number<T> value, uint8_t repeat,          \
                     uint16_t dst_block_stride, uint16_t src_block_stride, uint16_t dst_repeat_stride,          \
                     uint16_t src_repeat_stride, CANOPY_WHERE) {                                                \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                       \
        canopy::c_interface::vcmpvs_##relation(dst, src, value, repeat, dst_block_stride, src_block_stride,     \
                                               dst_repeat_stride, src_repeat_stride, where);                    \
    }                                                                                                           \
    template <class T>                                                                                          \
    inline void name##_sync(uint8_t* dst, const T* src, canopy::c_interface::number<T> value, uint8_t repeat,   \
                            uint16_t dst_block_stride, uint16_t src_block_stride, uint16_t dst_repeat_stride,   \
                            uint16_t src_repeat_stride, CANOPY_WHERE) {                                         \
        name(dst, src, value, repeat, dst_block_stride, src_block_stride, dst_repeat_stride, src_repeat_stride, \
             where);                                                                                            \
        canopy::c_interface::finish(where);                                                                     \
    }

// Conversions with one rounding. Templates, so that only those in use are compiled.
#define CANOPY_C_CONVERSION(name, D, S, mode)                                                                          \
    template <class T>                                                                                                 \
    inline void name(T* dst, const S* src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride,       \
                     uint16_t dst_repeat_stride, uint16_t src_repeat_stride, CANOPY_WHERE) {                           \
        CANOPY_C_TYPES(name, D)                                                                                        \
        AscendC::Cast<T, S, false>(canopy::kernel::unified(dst), canopy::kernel::unified(src),                         \
                                   AscendC::RoundMode::CAST_##mode, AscendC::MASK_PLACEHOLDER, repeat,                 \
                                   {dst_block_stride, src_block_stride, dst_repeat_stride, src_repeat_stride}, where); \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(T* dst, const S* src, uint32_t count, CANOPY_WHERE) {                                             \
        CANOPY_C_TYPES(name, D)                                                                                        \
        AscendC::Cast(canopy::kernel::unified(dst), canopy::kernel::unified(src), AscendC::RoundMode::CAST_##mode,     \
                      count, where);                                                                                   \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name##_sync(T* dst, const S* src, uint32_t count, CANOPY_WHERE) {                                      \
        name(dst, src, count, where);                                                                                  \
        canopy::c_interface::finish(where);                                                                            \
    }

#include "canopy_kernel/c_interface/vector_names.h"

#undef CANOPY_C_UNARY
#undef CANOPY_C_BINARY
#undef CANOPY_C_MIXED
#undef CANOPY_C_MIXED_SCALAR
#undef CANOPY_C_NUMBER
#undef CANOPY_C_SCALAR
#undef CANOPY_C_SHIFT
#undef CANOPY_C_GROUP
#undef CANOPY_C_EXTREME
#undef CANOPY_C_COMPARISON
#undef CANOPY_C_COMPARISON_SCALAR
#undef CANOPY_C_CONVERSION
#undef CANOPY_C_PAIRS
#undef CANOPY_C_TYPES

#endif
