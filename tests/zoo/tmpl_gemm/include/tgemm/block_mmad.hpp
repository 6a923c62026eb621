// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_BLOCK_MMAD_HPP
#define TGEMM_BLOCK_MMAD_HPP
#include "tgemm/arch.hpp"
#include "tgemm/tile.hpp"

namespace tgemm {

template <bool ENABLE_RELU_ = false>
struct MmadPingpong {
    using ArchTag = Arch::AtlasA2;
    static constexpr uint32_t STAGES = STAGES_OF_LEVEL[LEVEL_L1];
    static constexpr bool ENABLE_RELU = ENABLE_RELU_;
};

template <class DispatchPolicy, class L1TileShape, class L0TileShape, class Element, class ElementC>
class BlockMmad {
public:
    using ArchTag = typename DispatchPolicy::ArchTag;
    using Accumulator = float;
    using LayoutL1 = layout::zN<Element>;
    static constexpr uint32_t STAGES = DispatchPolicy::STAGES;
    static constexpr uint32_t L1A_TILE = L1TileShape::M * L1TileShape::K * sizeof(Element);
    static constexpr uint32_t L1B_TILE = L1TileShape::K * L1TileShape::N * sizeof(Element);
    static_assert((L1A_TILE + L1B_TILE) * STAGES <= ArchTag::L1_SIZE, "L1TileShape exceeds L1");
    static_assert(L1TileShape::M * L1TileShape::N * sizeof(Accumulator) <= ArchTag::L0C_SIZE, "tile exceeds L0C");

    TGEMM_DEVICE BlockMmad(Arch::Resource<ArchTag>& resource)
    {
        for (uint32_t i = 0; i < STAGES; ++i) {
            l1A[i] = resource.l1Buf.template GetBufferByByte<Element>(L1A_TILE * i);
            l1B[i] = resource.l1Buf.template GetBufferByByte<Element>(L1A_TILE * STAGES + L1B_TILE * i);
            l0A[i] = resource.l0ABuf.template GetBufferByByte<Element>(ArchTag::L0A_SIZE / STAGES * i);
            l0B[i] = resource.l0BBuf.template GetBufferByByte<Element>(ArchTag::L0B_SIZE / STAGES * i);
            AscendC::SetFlag<AscendC::HardEvent::MTE1_MTE2>(i);
            AscendC::SetFlag<AscendC::HardEvent::M_MTE1>(i);
        }
        l0C = resource.l0CBuf.template GetBufferByByte<Accumulator>(0);
        AscendC::SetFlag<AscendC::HardEvent::FIX_M>(EVENT_ID0);
    }
    TGEMM_DEVICE ~BlockMmad()
    {
        for (uint32_t i = 0; i < STAGES; ++i) {
            AscendC::WaitFlag<AscendC::HardEvent::MTE1_MTE2>(i);
            AscendC::WaitFlag<AscendC::HardEvent::M_MTE1>(i);
        }
        AscendC::WaitFlag<AscendC::HardEvent::FIX_M>(EVENT_ID0);
    }

    TGEMM_DEVICE void operator()(AscendC::GlobalTensor<Element> const& gmA, layout::RowMajor const& layoutA,
                                 AscendC::GlobalTensor<Element> const& gmB, layout::RowMajor const& layoutB,
                                 AscendC::GlobalTensor<ElementC> const& gmC, layout::RowMajor const& layoutC,
                                 GemmCoord const& actual)
    {
        AscendC::WaitFlag<AscendC::HardEvent::FIX_M>(EVENT_ID0);
        uint32_t kLoops = CeilDiv(actual.k(), L1TileShape::K);
        for (uint32_t kLoop = 0; kLoop < kLoops; ++kLoop) {
            uint32_t kOffset = kLoop * L1TileShape::K;
            uint32_t kActual = Min(actual.k() - kOffset, L1TileShape::K);
            LayoutL1 layoutL1A(actual.m(), kActual), layoutL1B(kActual, actual.n());
            AscendC::WaitFlag<AscendC::HardEvent::MTE1_MTE2>(stage);
            copyGmToL1(l1A[stage], gmA[layoutA.GetOffset({0, kOffset})], layoutL1A,
                       layoutA.GetTileLayout(actual.m(), kActual));
            copyGmToL1(l1B[stage], gmB[layoutB.GetOffset({kOffset, 0})], layoutL1B,
                       layoutB.GetTileLayout(kActual, actual.n()));
            AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE1>(stage);
            AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE1>(stage);
            MultiplyL1(layoutL1A, layoutL1B, actual, kActual, kLoop == 0);
            AscendC::SetFlag<AscendC::HardEvent::MTE1_MTE2>(stage);
            stage = (stage + 1 < STAGES) ? stage + 1 : 0;
        }
        AscendC::SetFlag<AscendC::HardEvent::M_FIX>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::M_FIX>(EVENT_ID0);
        copyL0CToGm(gmC, l0C, layoutC.GetTileLayout(actual.m(), actual.n()));
        AscendC::SetFlag<AscendC::HardEvent::FIX_M>(EVENT_ID0);
    }

private:
    TGEMM_DEVICE void MultiplyL1(LayoutL1 const& layoutL1A, LayoutL1 const& layoutL1B, GemmCoord const& actual,
                                 uint32_t kActual, bool first)
    {
        constexpr uint32_t FRACTAL_K = ElementTraits<Element>::PER_C0;
        for (uint32_t k = 0; k < kActual; k += L0TileShape::K) {
            uint32_t kPart = Min(kActual - k, L0TileShape::K);
            uint32_t kFractals = CeilDiv(kPart, FRACTAL_K);
            AscendC::WaitFlag<AscendC::HardEvent::M_MTE1>(l0Stage);
            copyL1ToL0A(l0A[l0Stage], l1A[stage][layoutL1A.GetOffset({0, k})], layoutL1A, layoutL1A.RowFractals(),
                        kFractals);
            copyL1ToL0B(l0B[l0Stage], l1B[stage][layoutL1B.GetOffset({k, 0})], layoutL1B,
                        CeilDiv(kPart, C0_NUM_PER_FRACTAL), layoutL1B.ColFractals());
            AscendC::SetFlag<AscendC::HardEvent::MTE1_M>(l0Stage);
            AscendC::WaitFlag<AscendC::HardEvent::MTE1_M>(l0Stage);
            tileMmad(l0C, l0A[l0Stage], l0B[l0Stage], actual.m(), actual.n(), kPart, first && k == 0);
            AscendC::SetFlag<AscendC::HardEvent::M_MTE1>(l0Stage);
            l0Stage = (l0Stage + 1 < STAGES) ? l0Stage + 1 : 0;
        }
    }

    AscendC::LocalTensor<Element> l1A[STAGES], l1B[STAGES], l0A[STAGES], l0B[STAGES];
    AscendC::LocalTensor<Accumulator> l0C;
    uint32_t stage{0};
    uint32_t l0Stage{0};
    tile::CopyGmToL1<Element> copyGmToL1;
    tile::CopyL1ToL0A<Element> copyL1ToL0A;
    tile::CopyL1ToL0B<Element> copyL1ToL0B;
    tile::TileMmad<Accumulator, Element> tileMmad;
    tile::CopyL0CToGm<ElementC, Accumulator> copyL0CToGm;
};

}  // namespace tgemm
#endif
