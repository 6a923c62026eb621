// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_KERNEL_HPP
#define TGEMM_KERNEL_HPP
#include "tgemm/block_mmad.hpp"

namespace tgemm {

// Walks the tiles in groups of SWIZZLE_OFFSET rows, back and forth.
template <uint32_t SWIZZLE_OFFSET = 1>
struct BlockSwizzle {
    TGEMM_HOST_DEVICE BlockSwizzle(GemmCoord const& problem, MatrixCoord const& tile)
        : loops(CeilDiv(problem.m(), tile.row()), CeilDiv(problem.n(), tile.column()))
    {
    }
    TGEMM_HOST_DEVICE uint32_t GetCoreLoops() const { return loops.row() * loops.column(); }
    TGEMM_HOST_DEVICE MatrixCoord GetBlockCoord(uint32_t index) const
    {
        uint32_t group = index / (SWIZZLE_OFFSET * loops.column());
        uint32_t inGroup = index % (SWIZZLE_OFFSET * loops.column());
        uint32_t rows = Min(loops.row() - group * SWIZZLE_OFFSET, SWIZZLE_OFFSET);
        uint32_t m = group * SWIZZLE_OFFSET + inGroup % rows;
        uint32_t n = inGroup / rows;
        return MatrixCoord(m, group % 2 == 1 ? loops.column() - n - 1 : n);
    }
    MatrixCoord loops;
};

template <class BlockMmad_, class L1TileShape, class Element, class ElementC, class Swizzle>
class BasicGemm {
public:
    using ArchTag = typename BlockMmad_::ArchTag;
    struct Params {
        GemmCoord problemShape;
        GM_ADDR ptrA;
        layout::RowMajor layoutA;
        GM_ADDR ptrB;
        layout::RowMajor layoutB;
        GM_ADDR ptrC;
        layout::RowMajor layoutC;

        TGEMM_HOST_DEVICE Params() {}
        TGEMM_HOST_DEVICE Params(GemmCoord const& problem, GM_ADDR a, layout::RowMajor const& la, GM_ADDR b,
                                 layout::RowMajor const& lb, GM_ADDR c, layout::RowMajor const& lc)
            : problemShape(problem), ptrA(a), layoutA(la), ptrB(b), layoutB(lb), ptrC(c), layoutC(lc)
        {
        }
    };

    template <int32_t CORE_TYPE = g_coreType>
    TGEMM_DEVICE void operator()(Params const& params);

    template <>
    TGEMM_DEVICE void operator()<AscendC::AIV>(Params const&)
    {
    }

    template <>
    TGEMM_DEVICE void operator()<AscendC::AIC>(Params const& params)
    {
        Swizzle swizzle(params.problemShape, MatrixCoord(L1TileShape::M, L1TileShape::N));
        Arch::Resource<ArchTag> resource;
        BlockMmad_ blockMmad(resource);
        AscendC::GlobalTensor<Element> gmA, gmB;
        AscendC::GlobalTensor<ElementC> gmC;
        gmA.SetGlobalBuffer((__gm__ Element*)params.ptrA);
        gmB.SetGlobalBuffer((__gm__ Element*)params.ptrB);
        gmC.SetGlobalBuffer((__gm__ ElementC*)params.ptrC);
        for (uint32_t i = AscendC::GetBlockIdx(); i < swizzle.GetCoreLoops(); i += AscendC::GetBlockNum()) {
            MatrixCoord block = swizzle.GetBlockCoord(i);
            uint32_t m = block.row() * L1TileShape::M, n = block.column() * L1TileShape::N;
            GemmCoord actual(Min(params.problemShape.m() - m, L1TileShape::M),
                             Min(params.problemShape.n() - n, L1TileShape::N), params.problemShape.k());
            blockMmad(gmA[params.layoutA.GetOffset({m, 0})], params.layoutA, gmB[params.layoutB.GetOffset({0, n})],
                      params.layoutB, gmC[params.layoutC.GetOffset({m, n})], params.layoutC, actual);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
    }
};

}  // namespace tgemm
#endif
