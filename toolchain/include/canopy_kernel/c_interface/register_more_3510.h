// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface on registers that follow no pattern: masks, carries, fills, rearrangement,
// address registers, and numbers.
#ifndef CANOPY_KERNEL_C_INTERFACE_REGISTER_MORE_3510_H
#define CANOPY_KERNEL_C_INTERFACE_REGISTER_MORE_3510_H

#include "canopy_kernel/c_interface/register_access_3510.h"

constexpr int64_t asc_get_vf_len() { return 256; }

// Masks --------------------------------------------------------------------------------------------------------------

inline constexpr auto PAT_ALL = AscendC::Reg::MaskPattern::ALL;
inline constexpr auto PAT_VL1 = AscendC::Reg::MaskPattern::VL1;
inline constexpr auto PAT_VL2 = AscendC::Reg::MaskPattern::VL2;
inline constexpr auto PAT_VL3 = AscendC::Reg::MaskPattern::VL3;
inline constexpr auto PAT_VL4 = AscendC::Reg::MaskPattern::VL4;
inline constexpr auto PAT_VL8 = AscendC::Reg::MaskPattern::VL8;
inline constexpr auto PAT_VL16 = AscendC::Reg::MaskPattern::VL16;
inline constexpr auto PAT_VL32 = AscendC::Reg::MaskPattern::VL32;
inline constexpr auto PAT_VL64 = AscendC::Reg::MaskPattern::VL64;
inline constexpr auto PAT_VL128 = AscendC::Reg::MaskPattern::VL128;
inline constexpr auto PAT_M3 = AscendC::Reg::MaskPattern::M3;
inline constexpr auto PAT_M4 = AscendC::Reg::MaskPattern::M4;
inline constexpr auto PAT_H = AscendC::Reg::MaskPattern::H;
inline constexpr auto PAT_Q = AscendC::Reg::MaskPattern::Q;
inline constexpr auto PAT_ALLF = AscendC::Reg::MaskPattern::ALLF;

namespace canopy::c_interface {

using Reg::MaskPattern;

// The pattern is a constant in programs, so that one case remains.
template <class T>
CANOPY_C_LANES vector_bool mask_of_pattern(MaskPattern pattern) {
    switch (pattern) {
        case MaskPattern::VL1:
            return Reg::CreateMask<T, MaskPattern::VL1>();
        case MaskPattern::VL2:
            return Reg::CreateMask<T, MaskPattern::VL2>();
        case MaskPattern::VL3:
            return Reg::CreateMask<T, MaskPattern::VL3>();
        case MaskPattern::VL4:
            return Reg::CreateMask<T, MaskPattern::VL4>();
        case MaskPattern::VL8:
            return Reg::CreateMask<T, MaskPattern::VL8>();
        case MaskPattern::VL16:
            return Reg::CreateMask<T, MaskPattern::VL16>();
        case MaskPattern::VL32:
            return Reg::CreateMask<T, MaskPattern::VL32>();
        case MaskPattern::VL64:
            return Reg::CreateMask<T, MaskPattern::VL64>();
        case MaskPattern::VL128:
            return Reg::CreateMask<T, MaskPattern::VL128>();
        case MaskPattern::M3:
            return Reg::CreateMask<T, MaskPattern::M3>();
        case MaskPattern::M4:
            return Reg::CreateMask<T, MaskPattern::M4>();
        case MaskPattern::H:
            return Reg::CreateMask<T, MaskPattern::H>();
        case MaskPattern::Q:
            return Reg::CreateMask<T, MaskPattern::Q>();
        case MaskPattern::ALLF:
            return Reg::CreateMask<T, MaskPattern::ALLF>();
        default:
            return Reg::CreateMask<T, MaskPattern::ALL>();
    }
}

}  // namespace canopy::c_interface

// `value` counts the elements that are left; it becomes what is left after this register.
#define CANOPY_C_MASKS(width, T)                                                                            \
    CANOPY_C_LANES vector_bool asc_create_mask_b##width(AscendC::Reg::MaskPattern pattern) {                \
        return canopy::c_interface::mask_of_pattern<T>(pattern);                                            \
    }                                                                                                       \
    CANOPY_C_LANES vector_bool asc_update_mask_b##width(uint32_t& value) {                                  \
        return AscendC::Reg::UpdateMask<T>(value);                                                          \
    }                                                                                                       \
    CANOPY_C_LANES void asc_intlv_b##width(vector_bool& dst0, vector_bool& dst1, const vector_bool& src0,   \
                                           const vector_bool& src1) {                                       \
        AscendC::Reg::Interleave<T>(dst0, dst1, src0, src1);                                                \
    }                                                                                                       \
    CANOPY_C_LANES void asc_deintlv_b##width(vector_bool& dst0, vector_bool& dst1, const vector_bool& src0, \
                                             const vector_bool& src1) {                                     \
        AscendC::Reg::DeInterleave<T>(dst0, dst1, src0, src1);                                              \
    }
CANOPY_C_MASKS(8, uint8_t)
CANOPY_C_MASKS(16, uint16_t)
CANOPY_C_MASKS(32, uint32_t)
#undef CANOPY_C_MASKS

// The mask register of the core.
CANOPY_C_LANES vector_bool asc_get_mask_spr_b16() { return AscendC::Reg::MoveMask<uint16_t>(); }
CANOPY_C_LANES vector_bool asc_get_mask_spr_b32() { return AscendC::Reg::MoveMask<uint32_t>(); }

#define CANOPY_C_MASK_BINARY(name, Function)                                                     \
    CANOPY_C_LANES void name(vector_bool& dst, const vector_bool& src0, const vector_bool& src1, \
                             const vector_bool& mask) {                                          \
        AscendC::Reg::Function(dst, src0, src1, mask);                                           \
    }
CANOPY_C_MASK_BINARY(asc_and, And)
CANOPY_C_MASK_BINARY(asc_or, Or)
CANOPY_C_MASK_BINARY(asc_xor, Xor)
CANOPY_C_MASK_BINARY(asc_select, Select)
#undef CANOPY_C_MASK_BINARY
CANOPY_C_LANES void asc_not(vector_bool& dst, const vector_bool& src, const vector_bool& mask) {
    AscendC::Reg::Not(dst, src, mask);
}

// Copies and fills ---------------------------------------------------------------------------------------------------

template <class T>
CANOPY_C_LANES void asc_copy(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                             const vector_bool& mask) {
    AscendC::Reg::Move(dst, src, mask);
}
CANOPY_C_LANES void asc_copy(vector_bool& dst, const vector_bool& src) { AscendC::Reg::Move(dst, src); }
CANOPY_C_LANES void asc_copy(vector_bool& dst, const vector_bool& src, const vector_bool& mask) {
    AscendC::Reg::Move(dst, src, mask);
}
// Piece `part` of a register as the bits of a mask: 16 bytes of uint16_t, 8 bytes of uint32_t.
template <class T>
CANOPY_C_LANES void asc_copy(vector_bool& dst, const canopy::kernel::Register<T>& src, int16_t part, CANOPY_WHERE) {
    using namespace canopy::kernel::registers;
    static_assert(canopy::kernel::is_any_of<T, uint16_t, uint32_t>,
                  "asc_copy: a mask is made from uint16_t or uint32_t");
    canopy::kernel::check_limit("asc_copy", "part", part, 0, sizeof(T) == 2 ? 15 : 31, where);
    const auto words = array_of(lanes_as<Lanes<uint64_t>>(src.lanes));
    if constexpr (sizeof(T) == 2)
        dst = bit_mask(repeat_bits<2>(HalfMaskBits{{words.element[part * 2], words.element[part * 2 + 1]}}));
    else
        dst = bit_mask(repeat_bits<4>(HalfMaskBits{{words.element[part], 0}}));
}

template <class T>
CANOPY_C_LANES void asc_duplicate_scalar(canopy::kernel::Register<T>& dst, canopy::c_interface::number<T> value) {
    AscendC::Reg::Duplicate(dst, value);
}
template <class T>
CANOPY_C_LANES void asc_duplicate_scalar(canopy::kernel::Register<T>& dst, canopy::c_interface::number<T> value,
                                         const vector_bool& mask) {
    AscendC::Reg::Duplicate(dst, value, mask);
}
template <class T>
CANOPY_C_LANES void asc_duplicate(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                                  const vector_bool& mask) {
    AscendC::Reg::Duplicate(dst, src, mask);
}
template <class T>
CANOPY_C_LANES void asc_arange(canopy::kernel::Register<T>& dst, canopy::c_interface::number<T> value) {
    AscendC::Reg::Arange(dst, value);
}
template <class T>
CANOPY_C_LANES void asc_arange_descend(canopy::kernel::Register<T>& dst, canopy::c_interface::number<T> value) {
    AscendC::Reg::Arange<T, AscendC::Reg::IndexOrder::DECREASE_ORDER>(dst, value);
}

// Arithmetic ---------------------------------------------------------------------------------------------------------

CANOPY_C_LANES void asc_add(vector_bool& carry, vector_uint32_t& dst, const vector_uint32_t& src0,
                            const vector_uint32_t& src1, const vector_bool& mask) {
    AscendC::Reg::Add(carry, dst, src0, src1, mask);
}
CANOPY_C_LANES void asc_addc(vector_bool& carry, vector_uint32_t& dst, const vector_uint32_t& src0,
                             const vector_uint32_t& src1, const vector_bool& carry_src, const vector_bool& mask) {
    AscendC::Reg::AddC(carry, dst, src0, src1, carry_src, mask);
}
CANOPY_C_LANES void asc_sub(vector_bool& carry, vector_uint32_t& dst, const vector_uint32_t& src0,
                            const vector_uint32_t& src1, const vector_bool& mask) {
    AscendC::Reg::Sub(carry, dst, src0, src1, mask);
}
CANOPY_C_LANES void asc_subc(vector_bool& carry, vector_uint32_t& dst, const vector_uint32_t& src0,
                             const vector_uint32_t& src1, const vector_bool& carry_src, const vector_bool& mask) {
    AscendC::Reg::SubC(carry, dst, src0, src1, carry_src, mask);
}
template <class T>
CANOPY_C_LANES void asc_mull(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1,
                             const canopy::kernel::Register<T>& src0, const canopy::kernel::Register<T>& src1,
                             const vector_bool& mask) {
    AscendC::Reg::Mull(dst0, dst1, src0, src1, mask);
}
// From half, the elements 2 i (or 2 i + 1) of the sources.
template <class T>
CANOPY_C_LANES void asc_exp_sub(vector_float& dst, const canopy::kernel::Register<T>& src0,
                                const canopy::kernel::Register<T>& src1, const vector_bool& mask) {
    AscendC::Reg::ExpSub<float, T, AscendC::Reg::RegLayout::ZERO>(dst, src0, src1, mask);
}
template <class T>
CANOPY_C_LANES void asc_exp_sub_v2(vector_float& dst, const canopy::kernel::Register<T>& src0,
                                   const canopy::kernel::Register<T>& src1, const vector_bool& mask) {
    AscendC::Reg::ExpSub<float, T, AscendC::Reg::RegLayout::ONE>(dst, src0, src1, mask);
}
// The product as half, in the elements 2 i (or 2 i + 1).
CANOPY_C_LANES void asc_muls(vector_half& dst, const vector_float& src, float value, const vector_bool& mask) {
    AscendC::Reg::MulsCast<half, float, float, AscendC::Reg::RegLayout::ZERO>(dst, src, value, mask);
}
CANOPY_C_LANES void asc_muls_v2(vector_half& dst, const vector_float& src, float value, const vector_bool& mask) {
    AscendC::Reg::MulsCast<half, float, float, AscendC::Reg::RegLayout::ONE>(dst, src, value, mask);
}
template <class T>
CANOPY_C_LANES void asc_pair_reduce_sum(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                                        const vector_bool& mask) {
    AscendC::Reg::PairReduceElem(dst, src, mask);
}

// One number to an integer.
#define CANOPY_C_NUMBER_TO_INTEGER(name, mode)                                             \
    inline int32_t name(float value) {                                                     \
        return canopy::kernel::from_float<AscendC::RoundMode::mode, true, int32_t>(value); \
    }
CANOPY_C_NUMBER_TO_INTEGER(asc_float2int32_rd, CAST_FLOOR)
CANOPY_C_NUMBER_TO_INTEGER(asc_float2int32_rn, CAST_RINT)
CANOPY_C_NUMBER_TO_INTEGER(asc_float2int32_rna, CAST_ROUND)
CANOPY_C_NUMBER_TO_INTEGER(asc_float2int32_ru, CAST_CEIL)
#undef CANOPY_C_NUMBER_TO_INTEGER

// Rearrangement ------------------------------------------------------------------------------------------------------

template <class T>
CANOPY_C_LANES void asc_intlv(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1,
                              const canopy::kernel::Register<T>& src0, const canopy::kernel::Register<T>& src1) {
    AscendC::Reg::Interleave(dst0, dst1, src0, src1);
}
template <class T>
CANOPY_C_LANES void asc_deintlv(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1,
                                const canopy::kernel::Register<T>& src0, const canopy::kernel::Register<T>& src1) {
    AscendC::Reg::DeInterleave(dst0, dst1, src0, src1);
}

#define CANOPY_C_PACK(name, Function, part)                                                              \
    template <class D, class S>                                                                          \
    CANOPY_C_LANES void name(canopy::kernel::Register<D>& dst, const canopy::kernel::Register<S>& src) { \
        AscendC::Reg::Function<D, S, AscendC::Reg::HighLowPart::part>(dst, src);                         \
    }                                                                                                    \
    CANOPY_C_LANES void name(vector_bool& dst, const vector_bool& src) {                                 \
        AscendC::Reg::Function<AscendC::Reg::HighLowPart::part>(dst, src);                               \
    }
CANOPY_C_PACK(asc_pack_to_low, Pack, LOWEST)
CANOPY_C_PACK(asc_pack_to_high, Pack, HIGHEST)
CANOPY_C_PACK(asc_pack, Pack, LOWEST)
CANOPY_C_PACK(asc_pack_v2, Pack, HIGHEST)
CANOPY_C_PACK(asc_unpack_lower, UnPack, LOWEST)
CANOPY_C_PACK(asc_unpack_upper, UnPack, HIGHEST)
#undef CANOPY_C_PACK

template <class T>
CANOPY_C_LANES void asc_squeeze(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                                const vector_bool& mask) {
    AscendC::Reg::Squeeze(dst, src, mask);
}
// Also counts the bytes that were kept.
template <class T>
CANOPY_C_LANES void asc_squeeze_with_status(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                                            const vector_bool& mask) {
    AscendC::Reg::Squeeze<T, AscendC::Reg::GatherMaskMode::STORE_REG>(dst, src, mask);
}
template <class T>
CANOPY_C_LANES void asc_squeeze_v2(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                                   const vector_bool& mask) {
    asc_squeeze_with_status(dst, src, mask);
}
CANOPY_C_LANES int64_t asc_get_squeeze_status() {
    return static_cast<int64_t>(canopy::kernel::core_state().squeezed.total);
}
CANOPY_C_LANES int64_t asc_get_ar_spr() { return asc_get_squeeze_status(); }
CANOPY_C_LANES void asc_clear_ar_spr() { AscendC::Reg::ClearSpr<AscendC::SpecialPurposeReg::AR>(); }
template <class T>
CANOPY_C_LANES void asc_unsqueeze(canopy::kernel::Register<T>& dst, const vector_bool& mask) {
    AscendC::Reg::Unsqueeze(dst, mask);
}

#define CANOPY_C_HISTOGRAM(name, bin, type)                                                              \
    CANOPY_C_LANES void name(vector_uint16_t& dst, const vector_uint8_t& src, const vector_bool& mask) { \
        AscendC::Reg::Histograms<uint8_t, uint16_t, AscendC::Reg::HistogramsBinType::bin,                \
                                 AscendC::Reg::HistogramsType::type>(dst, src, mask);                    \
    }
CANOPY_C_HISTOGRAM(asc_frequency_histogram_bin0, BIN0, FREQUENCY)
CANOPY_C_HISTOGRAM(asc_frequency_histogram_bin1, BIN1, FREQUENCY)
CANOPY_C_HISTOGRAM(asc_cumulative_histogram_bin0, BIN0, ACCUMULATE)
CANOPY_C_HISTOGRAM(asc_cumulative_histogram_bin1, BIN1, ACCUMULATE)
#undef CANOPY_C_HISTOGRAM

// Operations of a vector function are complete when the next one starts.
#define asc_mem_bar(...) static_cast<void>(0)

// Address registers --------------------------------------------------------------------------------------------------

namespace canopy::c_interface {

// On a chip, the register counts the rounds of the loop around the call. Here the n-th call from one place in the
// source during one vector function returns n times the stride.
inline addr_reg next_offset(uint32_t stride, const char* file, uint32_t line, uint32_t column) {
    auto& state = kernel::core_state();
    uint32_t& used = state.c_interface.address_sites;
    for (uint32_t i = 0; i < used; ++i) {
        auto& site = state.address_site[i];
        if (site.line == line && site.column == column && site.file == file) return {stride * site.calls++};
    }
    if (used == kernel::CoreState::most_address_sites)
        kernel::fail({file, line}, "a vector function makes address registers at more than %u places",
                     kernel::CoreState::most_address_sites);
    state.address_site[used++] = {file, line, column, 1};
    return {0};
}

}  // namespace canopy::c_interface

#define CANOPY_C_ADDRESS(name)                                                                                   \
    inline addr_reg name(uint32_t offset, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(), \
                         uint32_t column = __builtin_COLUMN()) {                                                 \
        return canopy::c_interface::next_offset(offset, file, line, column);                                     \
    }                                                                                                            \
    template <class... Offsets>                                                                                  \
    __attribute__((unavailable(#name " with several strides is not supported: only a chip's compiler knows the " \
                                     "loops around a call; use AscendC::Reg::CreateAddrReg with the indices")))  \
    addr_reg                                                                                                     \
    name(uint32_t, uint32_t, Offsets...);
CANOPY_C_ADDRESS(asc_update_addr_reg_b8)
CANOPY_C_ADDRESS(asc_update_addr_reg_b16)
CANOPY_C_ADDRESS(asc_update_addr_reg_b32)
CANOPY_C_ADDRESS(asc_create_iter_reg_b8)
CANOPY_C_ADDRESS(asc_create_iter_reg_b16)
CANOPY_C_ADDRESS(asc_create_iter_reg_b32)
#undef CANOPY_C_ADDRESS

#endif
