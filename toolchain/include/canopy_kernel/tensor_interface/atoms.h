// SPDX-License-Identifier: Apache-2.0
// Atoms of AscendC::Te: an operation, its trait (a type with a constant value) and, after `with`, its parameters.
#ifndef CANOPY_KERNEL_TENSOR_ATOMS_H
#define CANOPY_KERNEL_TENSOR_ATOMS_H

#include "canopy_kernel/tensor_interface/multiply.h"
#include "canopy_kernel/tensor_interface/result_copy.h"

namespace AscendC::Te {

template <class CopyOperation, class... CopyOpArgs>
struct CopyTraits;
template <class... Args>
struct CopyAtom;

template <class CopyOperation>
struct CopyTraits<CopyOperation> : CopyTraits<CopyOperation, typename CopyOperation::Default> {};

template <class CopyOperation, class Trait>
struct CopyTraits<CopyOperation, Trait> {
    using TraitType = typename Trait::TraitType;
    static constexpr const TraitType defaultTrait = Trait::value;

    template <class... TraitsArgs>
    constexpr auto with(const TraitsArgs&... args) const {
        static_assert(
            !canopy::kernel::is_same<typename CopyOperation::With, CopyOperation>,
            "with: this operation takes no parameters; CopyL0C2* take FixpipeParams, CopyL12L0A Img2ColParams");
        const auto params = CopyOperation::With::parameters(args...);
        return CopyAtom<CopyTraits<typename CopyOperation::With, Trait, Std::remove_cvref_t<decltype(params)>>>{
            {params}};
    }
    template <const TraitType& traits, class... Operands>
    static void run(canopy::kernel::Where where, const Operands&... operands) {
        CopyOperation::template Copy<traits>(where, operands...);
    }
};

template <class CopyOperation, class Trait, class Params>
struct CopyTraits<CopyOperation, Trait, Params> {
    using TraitType = typename Trait::TraitType;
    static constexpr const TraitType defaultTrait = Trait::value;
    Params params;

    template <class... TraitsArgs>
    constexpr auto with(const TraitsArgs&... args) const {
        const auto other = CopyOperation::parameters(args...);
        return CopyAtom<CopyTraits<CopyOperation, Trait, Std::remove_cvref_t<decltype(other)>>>{{other}};
    }
    template <const TraitType& traits, class... Operands>
    void run(canopy::kernel::Where where, const Operands&... operands) const {
        CopyOperation::template Copy<traits>(where, params, operands...);
    }
};

template <class... Args>
struct CopyAtom : CopyAtom<CopyTraits<Args...>> {};
template <class... Args>
struct CopyAtom<CopyTraits<Args...>> : CopyTraits<Args...> {
    using CopyTraitType = CopyTraits<Args...>;
    using TraitType = typename CopyTraitType::TraitType;
    using CopyTraitType::defaultTrait;

    template <const TraitType& traits = CopyTraitType::defaultTrait, class... Params>
    void Call(const Params&... params) const {
        this->template run<traits>(canopy::kernel::here(), params...);
    }
};

template <class CopyOperationType>
constexpr auto MakeCopy(const CopyOperationType&) {
    return CopyAtom<CopyTraits<CopyOperationType>>{};
}
template <class CopyOperationType, class CopyTraitType>
constexpr auto MakeCopy(const CopyOperationType&, const CopyTraitType&) {
    return CopyAtom<CopyTraits<CopyOperationType, CopyTraitType>>{};
}

template <class AtomType, class DstTensor, class SrcTensor>
inline void Copy(const CopyAtom<AtomType>& atomCopy, const DstTensor& dst, const SrcTensor& src,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    atomCopy.template run<CopyAtom<AtomType>::defaultTrait>(where, dst, src);
}
template <class AtomType, class DstTensor, class SrcTensor, class QuantParam,
          Std::enable_if_t<IsCopyQuantParamV<QuantParam>, int> = 0>
inline void Copy(const CopyAtom<AtomType>& atomCopy, const DstTensor& dst, const SrcTensor& src,
                 const QuantParam& quant, canopy::kernel::Where where = canopy::kernel::here()) {
    atomCopy.template run<CopyAtom<AtomType>::defaultTrait>(where, dst, src, quant);
}

template <class Operation, class... MmadOpArgs>
struct MmadTraits;
template <class... Args>
struct MmadAtom;

template <class Operation>
struct MmadTraits<Operation> : MmadTraits<Operation, MmadTraitDefault> {};

template <class Operation, class Trait>
struct MmadTraits<Operation, Trait> {
    using TraitType = typename Trait::TraitType;
    static constexpr const TraitType defaultTrait = Trait::value;

    template <class... TraitsArgs>
    constexpr auto with(TraitsArgs&&... args) const {
        return MmadAtom<MmadTraits<MmadOpWith, Trait, MmadParams>>{{MmadParams(args...)}};
    }
    template <const TraitType& traits, class... Operands>
    static void run(canopy::kernel::Where where, const Operands&... operands) {
        Operation::template Mmad<traits>(where, operands...);
    }
};

template <class Operation, class Trait>
struct MmadTraits<Operation, Trait, MmadParams> {
    using TraitType = typename Trait::TraitType;
    static constexpr const TraitType defaultTrait = Trait::value;
    MmadParams params;

    template <class... TraitsArgs>
    constexpr auto with(TraitsArgs&&... args) const {
        return MmadAtom<MmadTraits<Operation, Trait, MmadParams>>{{MmadParams(args...)}};
    }
    template <const TraitType& traits, class... Operands>
    void run(canopy::kernel::Where where, const Operands&... operands) const {
        Operation::template Mmad<traits>(where, params, operands...);
    }
};

template <class... Args>
struct MmadAtom : MmadAtom<MmadTraits<Args...>> {};
template <class... Args>
struct MmadAtom<MmadTraits<Args...>> : MmadTraits<Args...> {
    using MmadTraitType = MmadTraits<Args...>;
    using TraitType = typename MmadTraitType::TraitType;
    using MmadTraitType::defaultTrait;

    template <const TraitType& traits = MmadTraitType::defaultTrait, class... Params>
    void Call(const Params&... params) const {
        this->template run<traits>(canopy::kernel::here(), params...);
    }
};

template <class MmadOperationType>
constexpr auto MakeMmad(const MmadOperationType&) {
    return MmadAtom<MmadTraits<MmadOperationType>>{};
}
template <class MmadOperationType, class MmadTraitType>
constexpr auto MakeMmad(const MmadOperationType&, const MmadTraitType&) {
    return MmadAtom<MmadTraits<MmadOperationType, MmadTraitType>>{};
}

template <class AtomType, class DstTensor, class FmTensor, class FilterTensor>
inline void Mmad(const MmadAtom<AtomType>& atomMmad, const DstTensor& dst, const FmTensor& fm,
                 const FilterTensor& filter, canopy::kernel::Where where = canopy::kernel::here()) {
    atomMmad.template run<MmadAtom<AtomType>::defaultTrait>(where, dst, fm, filter);
}
template <class AtomType, class DstTensor, class FmTensor, class FilterTensor, class BiasTensor,
          Std::enable_if_t<IsAttrTensorV<BiasTensor>, int> = 0>
inline void Mmad(const MmadAtom<AtomType>& atomMmad, const DstTensor& dst, const FmTensor& fm,
                 const FilterTensor& filter, const BiasTensor& bias,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    atomMmad.template run<MmadAtom<AtomType>::defaultTrait>(where, dst, fm, filter, bias);
}

}  // namespace AscendC::Te

#endif
