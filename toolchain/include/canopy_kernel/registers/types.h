// SPDX-License-Identifier: Apache-2.0
// The values of register programming: vector registers of 256 bytes, masks of 256 bits with one bit per byte lane,
// address registers, and the side buffers of accesses that are not aligned. Registers are plain values; the compiler
// keeps them in registers of the processor. Used by every header of register programming and by the C interface.
#ifndef CANOPY_KERNEL_REGISTER_TYPES_H
#define CANOPY_KERNEL_REGISTER_TYPES_H

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/core/mask.h"

// Complex numbers of half and of float.
struct complex32 {
    half real, imag;
};
struct complex64 {
    float real, imag;
};

namespace canopy::kernel {

inline constexpr uint32_t register_bytes = 256;

template <class E, uint32_t count>
struct LanesOf {
    typedef E type __attribute__((ext_vector_type(count)));
};
// A value of `count` numbers, on which the operators of the language work element by element.
template <class E, uint32_t count = register_bytes / sizeof(E)>
using Lanes = typename LanesOf<E, count>::type;

template <uint32_t bytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
    using type = uint8_t;
};
template <>
struct UnsignedOfSize<2> {
    using type = uint16_t;
};
template <>
struct UnsignedOfSize<4> {
    using type = uint32_t;
};
template <>
struct UnsignedOfSize<8> {
    using type = uint64_t;
};
template <uint32_t bytes>
using unsigned_of = typename UnsignedOfSize<bytes>::type;

// The numbers a register of T consists of: T itself if the compiler computes with it, otherwise its bits.
template <class T>
using LaneElement =
    choose<is_any_of<T, half, float, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>, T,
           unsigned_of<sizeof(T)>>;

}  // namespace canopy::kernel

namespace AscendC::Reg {

struct RegTrait {
    int REG_NUM = 1;
};
inline constexpr RegTrait RegTraitNumOne = {1};
inline constexpr RegTrait RegTraitNumTwo = {2};

// Stands for "the element type of the register".
struct DefaultType {};

}  // namespace AscendC::Reg

namespace canopy::kernel {

// One register. Kernels reinterpret registers of one type as registers of another, so they may alias.
template <class T>
struct __attribute__((may_alias)) Register {
    using ActualT = T;
    using RegType = Register;
    static constexpr AscendC::Reg::RegTrait trait = {1};

    Lanes<LaneElement<T>> lanes;
};

}  // namespace canopy::kernel

using vector_int8_t = canopy::kernel::Register<int8_t>;
using vector_uint8_t = canopy::kernel::Register<uint8_t>;
using vector_int16_t = canopy::kernel::Register<int16_t>;
using vector_uint16_t = canopy::kernel::Register<uint16_t>;
using vector_int32_t = canopy::kernel::Register<int32_t>;
using vector_uint32_t = canopy::kernel::Register<uint32_t>;
using vector_int64_t = canopy::kernel::Register<int64_t>;
using vector_uint64_t = canopy::kernel::Register<uint64_t>;
using vector_half = canopy::kernel::Register<half>;
using vector_bfloat16_t = canopy::kernel::Register<bfloat16_t>;
using vector_float = canopy::kernel::Register<float>;
using vector_hifloat8_t = canopy::kernel::Register<hifloat8_t>;
using vector_fp8_e4m3fn_t = canopy::kernel::Register<fp8_e4m3fn_t>;
using vector_fp8_e5m2_t = canopy::kernel::Register<fp8_e5m2_t>;
using vector_fp8_e8m0_t = canopy::kernel::Register<fp8_e8m0_t>;
using vector_fp4x2_e2m1_t = canopy::kernel::Register<fp4x2_e2m1_t>;
using vector_fp4x2_e1m2_t = canopy::kernel::Register<fp4x2_e1m2_t>;
using vector_int4x2_t = canopy::kernel::Register<AscendC::int4b_t>;
using vector_complex32 = canopy::kernel::Register<complex32>;
using vector_complex64 = canopy::kernel::Register<complex64>;

// Shorter names of the same types.
using vector_s8 = vector_int8_t;
using vector_u8 = vector_uint8_t;
using vector_s16 = vector_int16_t;
using vector_u16 = vector_uint16_t;
using vector_s32 = vector_int32_t;
using vector_u32 = vector_uint32_t;
using vector_s64 = vector_int64_t;
using vector_u64 = vector_uint64_t;
using vector_f16 = vector_half;
using vector_bf16 = vector_bfloat16_t;
using vector_f32 = vector_float;

// A mask: bit i belongs to byte lane i, and operations on elements of n bytes read bits 0, n, 2n, ... It stays in the
// form in which it was made. Where the compiler sees that, the form is a constant and costs nothing; masks.h has the
// conversions.
struct vector_bool {
    enum Form : uint8_t { in_bits, leading, in_lanes };

    uint64_t bits[4];                     // in_bits
    canopy::kernel::Lanes<int8_t> lanes;  // in_lanes, from comparisons: all bits of an element are its bit
    uint32_t bytes;                       // leading: the elements in that many bytes, at most 256
    Form form;
    uint8_t width;  // bytes of the elements for which `lanes` or `bytes` was made
};

// An offset in elements.
struct vector_address {
    uint32_t elements = 0;
};
using addr_reg = vector_address;

// Unaligned accesses go to memory at once, so there is nothing to keep between them.
struct vector_align {};
using vector_load_unalign = vector_align;
using vector_store_unalign = vector_align;

namespace AscendC {

using ::complex32;
using ::complex64;

enum class SpecialPurposeReg : uint8_t { AR = 0 };

namespace Reg {

using AscendC::SpecialPurposeReg;

using MaskReg = vector_bool;
using AddrReg = vector_address;
using UnalignReg = vector_align;
using UnalignRegForLoad = vector_align;
using UnalignRegForStore = vector_align;

// One register, or two: then the first holds the lower halves of 64-bit integers or the real parts of complex numbers,
// the second the upper halves or the imaginary parts.
template <typename T, const RegTrait& regTrait = RegTraitNumOne>
struct RegTensor {
    using ActualT = T;
    static constexpr RegTrait trait = regTrait;
    static constexpr int REG_NUM = trait.REG_NUM;
    using RegType = canopy::kernel::Register<T>;
    static_assert(REG_NUM == 1 || (REG_NUM == 2 && (sizeof(T) == 8 || canopy::kernel::is_same<T, complex32>)),
                  "RegTensor: two registers are for 64-bit integers and complex numbers");

    RegType reg[REG_NUM];

    operator RegType&() { return reg[0]; }
    operator const RegType&() const { return reg[0]; }
    void Print() const;
};

}  // namespace Reg

namespace MicroAPI = Reg;

}  // namespace AscendC

#endif
