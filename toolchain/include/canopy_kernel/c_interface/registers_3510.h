// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface on registers. They equal the functions of AscendC::Reg; lanes outside the mask become 0,
// except that asc_copy keeps them. register_names.h lists those that follow a pattern, this file defines the patterns.
#ifndef CANOPY_KERNEL_C_INTERFACE_REGISTERS_3510_H
#define CANOPY_KERNEL_C_INTERFACE_REGISTERS_3510_H

// Vectors are passed between functions that are always inlined, so their calling convention does not matter.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

#include "canopy_kernel/c_interface/register_access_3510.h"

namespace canopy::c_interface {

template <Reg::RegLayout layout, Reg::SatMode saturation, AscendC::RoundMode rounding>
inline constexpr Reg::CastTrait cast_trait = {layout, saturation, Reg::MaskMergeMode::ZEROING, rounding};

}  // namespace canopy::c_interface

#define CANOPY_C_TYPES(name, ...) \
    static_assert(canopy::kernel::is_any_of<T, __VA_ARGS__>, #name ": the element types are " #__VA_ARGS__);
#define CANOPY_C_PAIRS(name, ...)    \
    using canopy::c_interface::Pair; \
    static_assert(canopy::kernel::is_any_of<Pair<T, S>, __VA_ARGS__>, #name ": the element types are " #__VA_ARGS__);

#define CANOPY_C_UNARY(name, Function, ...)                                                            \
    template <class T>                                                                                 \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src, \
                             const vector_bool& mask) {                                                \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                              \
        AscendC::Reg::Function(dst, src, mask);                                                        \
    }
#define CANOPY_C_BINARY(name, Function, ...)                                                            \
    template <class T>                                                                                  \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src0, \
                             const canopy::kernel::Register<T>& src1, const vector_bool& mask) {        \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                               \
        AscendC::Reg::Function(dst, src0, src1, mask);                                                  \
    }
#define CANOPY_C_SCALAR(name, Function, ...)                                                           \
    template <class T>                                                                                 \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src, \
                             canopy::c_interface::number<T> value, const vector_bool& mask) {          \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                              \
        AscendC::Reg::Function(dst, src, value, mask);                                                 \
    }
#define CANOPY_C_SHIFT(name, Function, ...)                                                             \
    template <class T, class S>                                                                         \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src0, \
                             const canopy::kernel::Register<S>& src1, const vector_bool& mask) {        \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                               \
        AscendC::Reg::Function(dst, src0, src1, mask);                                                  \
    }
#define CANOPY_C_SHIFT_SCALAR(name, Function, ...)                                                                    \
    template <class T>                                                                                                \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src, int16_t value, \
                             const vector_bool& mask) {                                                               \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                             \
        AscendC::Reg::Function(dst, src, value, mask);                                                                \
    }
#define CANOPY_C_TRUNCATION(name, mode, ...)                                                           \
    template <class T>                                                                                 \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src, \
                             const vector_bool& mask) {                                                \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                              \
        AscendC::Reg::Truncate<T, AscendC::RoundMode::mode>(dst, src, mask);                           \
    }
#define CANOPY_C_COMPARISON(name, relation, ...)                                                 \
    template <class T>                                                                           \
    CANOPY_C_LANES void name(vector_bool& dst, const canopy::kernel::Register<T>& src0,          \
                             const canopy::kernel::Register<T>& src1, const vector_bool& mask) { \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                        \
        AscendC::Reg::Compare<T, AscendC::CMPMODE::relation>(dst, src0, src1, mask);             \
    }
#define CANOPY_C_COMPARISON_SCALAR(name, relation, ...)                                       \
    template <class T>                                                                        \
    CANOPY_C_LANES void name(vector_bool& dst, const canopy::kernel::Register<T>& src,        \
                             canopy::c_interface::number<T> value, const vector_bool& mask) { \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                     \
        AscendC::Reg::Compares<T, AscendC::CMPMODE::relation>(dst, src, value, mask);         \
    }
#define CANOPY_C_REDUCTION(name, Function, kind, ...)                                                  \
    template <class T, class S>                                                                        \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<S>& src, \
                             const vector_bool& mask) {                                                \
        CANOPY_C_PAIRS(name, __VA_ARGS__)                                                              \
        AscendC::Reg::Function<AscendC::ReduceType::kind>(dst, src, mask);                             \
    }
#define CANOPY_C_CONVERSION(name, D, S, rounding, saturation, layout)                                           \
    template <class T>                                                                                          \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<S>& src,          \
                             const vector_bool& mask) {                                                         \
        CANOPY_C_TYPES(name, D)                                                                                 \
        AscendC::Reg::Cast<                                                                                     \
            T, S,                                                                                               \
            canopy::c_interface::cast_trait<AscendC::Reg::RegLayout::layout, AscendC::Reg::SatMode::saturation, \
                                            AscendC::RoundMode::rounding>>(dst, src, mask);                     \
    }

#include "canopy_kernel/c_interface/register_names.h"

#undef CANOPY_C_UNARY
#undef CANOPY_C_BINARY
#undef CANOPY_C_SCALAR
#undef CANOPY_C_SHIFT
#undef CANOPY_C_SHIFT_SCALAR
#undef CANOPY_C_TRUNCATION
#undef CANOPY_C_COMPARISON
#undef CANOPY_C_COMPARISON_SCALAR
#undef CANOPY_C_REDUCTION
#undef CANOPY_C_CONVERSION
#undef CANOPY_C_LOAD
#undef CANOPY_C_LOAD_UPDATE
#undef CANOPY_C_STORE
#undef CANOPY_C_STORE_UPDATE
#undef CANOPY_C_PAIRS
#undef CANOPY_C_TYPES

#include "canopy_kernel/c_interface/register_more_3510.h"

#pragma clang diagnostic pop

#endif
