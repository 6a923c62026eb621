// SPDX-License-Identifier: Apache-2.0
// Former names of register functions. Those of loads and stores are beside the current ones.
#ifndef CANOPY_KERNEL_REGISTER_OLD_NAMES_H
#define CANOPY_KERNEL_REGISTER_OLD_NAMES_H

#include "canopy_kernel/registers/gather.h"
#include "canopy_kernel/registers/mask_logic.h"
#include "canopy_kernel/registers/reduce.h"

namespace AscendC::Reg {

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename U>
CANOPY_LANES void Copy(U& dstReg, const U& srcReg, MaskReg mask) {
    Move<T, mode>(dstReg, srcReg, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void Copy(U& dstReg, const U& srcReg) {
    Move<T>(dstReg, srcReg);
}

template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U, typename S>
CANOPY_LANES void CompareScalar(MaskReg& dst, const U& srcReg, S scalarValue, const MaskReg& mask) {
    Compares<T, mode>(dst, srcReg, scalarValue, mask);
}

template <typename T = DefaultType, typename U = DefaultType, RegLayout layout = RegLayout::ZERO,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V>
CANOPY_LANES void FusedExpSub(S& dstReg, const V& srcReg0, const V& srcReg1, const MaskReg& mask) {
    ExpSub<T, U, layout, mode>(dstReg, srcReg0, srcReg1, mask);
}
template <typename T0 = DefaultType, typename T1 = DefaultType, typename T2, RegLayout layout = RegLayout::ZERO,
          typename T3, typename T4>
CANOPY_LANES void FusedMulsCast(T3& dstReg, const T4& srcReg, T2 scalarValue, const MaskReg& mask) {
    MulsCast<T0, T1, T2, layout>(dstReg, srcReg, scalarValue, mask);
}

#define CANOPY_OLD_BINARY(Old, Name)                                                             \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U> \
    CANOPY_LANES void Old(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {  \
        Name<T, mode>(dstReg, srcReg0, srcReg1, mask);                                           \
    }
CANOPY_OLD_BINARY(FusedAbsSub, AbsSub)
CANOPY_OLD_BINARY(FusedMulDstAdd, MulDstAdd)
CANOPY_OLD_BINARY(Mula, MulAddDst)
#undef CANOPY_OLD_BINARY

template <typename T = DefaultType, typename U>
CANOPY_LANES void AddCarryOut(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    Add<T>(carry, dstReg, srcReg0, srcReg1, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void SubCarryOut(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    Sub<T>(carry, dstReg, srcReg0, srcReg1, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void AddCarryOuts(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& carrySrc,
                               const MaskReg& mask) {
    AddC<T>(carry, dstReg, srcReg0, srcReg1, carrySrc, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void SubCarryOuts(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& carrySrc,
                               const MaskReg& mask) {
    SubC<T>(carry, dstReg, srcReg0, srcReg1, carrySrc, mask);
}

template <typename T = DefaultType, typename U = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename S,
          typename V>
CANOPY_LANES void ReduceSum(S& dstReg, const V& srcReg, const MaskReg& mask) {
    Reduce<ReduceType::SUM, T, U, mode>(dstReg, srcReg, mask);
}
#define CANOPY_OLD_REDUCE(Old, ...)                                                              \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U> \
    CANOPY_LANES void Old(U& dstReg, const U& srcReg, const MaskReg& mask) {                     \
        __VA_ARGS__(dstReg, srcReg, mask);                                                       \
    }
CANOPY_OLD_REDUCE(ReduceMax, Reduce<ReduceType::MAX, T, T, mode>)
CANOPY_OLD_REDUCE(ReduceMin, Reduce<ReduceType::MIN, T, T, mode>)
CANOPY_OLD_REDUCE(ReduceSumWithDataBlock, ReduceDataBlock<ReduceType::SUM, T, mode>)
CANOPY_OLD_REDUCE(ReduceMaxWithDataBlock, ReduceDataBlock<ReduceType::MAX, T, mode>)
CANOPY_OLD_REDUCE(ReduceMinWithDataBlock, ReduceDataBlock<ReduceType::MIN, T, mode>)
CANOPY_OLD_REDUCE(PairReduceSum, PairReduceElem<PairReduce::SUM, T, mode>)
#undef CANOPY_OLD_REDUCE

template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, typename U>
CANOPY_LANES void GatherMask(U& dstReg, const U& srcReg, const MaskReg& mask) {
    Squeeze<T, store>(dstReg, srcReg, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void PrefixSum(U& dstReg, const MaskReg& mask) {
    Unsqueeze<T>(dstReg, mask);
}

CANOPY_LANES void MaskNot(MaskReg& dst, const MaskReg& src, const MaskReg& mask) { Not(dst, src, mask); }
CANOPY_LANES void MaskMov(MaskReg& dst, const MaskReg& src, const MaskReg& mask) { Move(dst, src, mask); }
CANOPY_LANES void MaskMov(MaskReg& dst, const MaskReg& src) { Move(dst, src); }
#define CANOPY_OLD_MASK(Old, Name)                                                                       \
    CANOPY_LANES void Old(MaskReg& dst, const MaskReg& src0, const MaskReg& src1, const MaskReg& mask) { \
        Name(dst, src0, src1, mask);                                                                     \
    }
CANOPY_OLD_MASK(MaskAnd, And)
CANOPY_OLD_MASK(MaskOr, Or)
CANOPY_OLD_MASK(MaskXor, Xor)
CANOPY_OLD_MASK(MaskSel, Select)
#undef CANOPY_OLD_MASK
template <typename T>
CANOPY_LANES void MaskInterleave(MaskReg& dst0, MaskReg& dst1, const MaskReg& src0, const MaskReg& src1) {
    Interleave<T>(dst0, dst1, src0, src1);
}
template <typename T>
CANOPY_LANES void MaskDeInterleave(MaskReg& dst0, MaskReg& dst1, const MaskReg& src0, const MaskReg& src1) {
    DeInterleave<T>(dst0, dst1, src0, src1);
}
template <HighLowPart part = HighLowPart::LOWEST>
CANOPY_LANES void MaskPack(MaskReg& dst, const MaskReg& src) {
    Pack<part>(dst, src);
}
template <HighLowPart part = HighLowPart::LOWEST>
CANOPY_LANES void MaskUnPack(MaskReg& dst, const MaskReg& src) {
    UnPack<part>(dst, src);
}

}  // namespace AscendC::Reg

#endif
