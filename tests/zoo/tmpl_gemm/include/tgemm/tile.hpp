// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_TILE_HPP
#define TGEMM_TILE_HPP
#include "tgemm/layout.hpp"

namespace tgemm {
namespace tile {

template <class Element>
struct CopyGmToL1 {
    TGEMM_DEVICE void operator()(AscendC::LocalTensor<Element> const& dst, AscendC::GlobalTensor<Element> const& src,
                                 layout::zN<Element> const& layoutDst, layout::RowMajor const& layoutSrc)
    {
        AscendC::Nd2NzParams p;
        p.ndNum = 1;
        p.nValue = layoutSrc.shape(0);
        p.dValue = layoutSrc.shape(1);
        p.srcNdMatrixStride = 0;
        p.srcDValue = layoutSrc.stride(0);
        p.dstNzC0Stride = layoutDst.rows();
        p.dstNzNStride = 1;
        p.dstNzMatrixStride = 0;
        AscendC::DataCopy(dst, src, p);
    }
};

// zN -> zZ
template <class Element>
struct CopyL1ToL0A {
    TGEMM_DEVICE void operator()(AscendC::LocalTensor<Element> const& dst, AscendC::LocalTensor<Element> const& src,
                                 layout::zN<Element> const& layoutSrc, uint32_t mFractals, uint32_t kFractals)
    {
        AscendC::LoadData2DParams p;
        p.startIndex = 0;
        p.repeatTimes = static_cast<uint8_t>(kFractals);
        p.srcStride = layoutSrc.RowFractals();
        p.sid = 0;
        p.dstGap = 0;
        p.ifTranspose = false;
        p.addrMode = 0;
        for (uint32_t i = 0; i < mFractals; ++i) {
            AscendC::LoadData(dst[i * kFractals * ElementTraits<Element>::PER_FRACTAL],
                              src[i * ElementTraits<Element>::PER_FRACTAL], p);
        }
    }
};

// zN -> nZ
template <class Element>
struct CopyL1ToL0B {
    TGEMM_DEVICE void operator()(AscendC::LocalTensor<Element> const& dst, AscendC::LocalTensor<Element> const& src,
                                 layout::zN<Element> const& layoutSrc, uint32_t kFractals, uint32_t nFractals)
    {
        AscendC::LoadData2DParams p;
        p.startIndex = 0;
        p.repeatTimes = static_cast<uint8_t>(nFractals);
        p.srcStride = layoutSrc.RowFractals();
        p.sid = 0;
        p.dstGap = 0;
        p.ifTranspose = true;
        p.addrMode = 0;
        for (uint32_t i = 0; i < kFractals; ++i) {
            AscendC::LoadData(dst[i * nFractals * ElementTraits<Element>::PER_FRACTAL],
                              src[i * ElementTraits<Element>::PER_FRACTAL], p);
        }
    }
};

template <class Acc, class Element>
struct TileMmad {
    TGEMM_DEVICE void operator()(AscendC::LocalTensor<Acc> const& c, AscendC::LocalTensor<Element> const& a,
                                 AscendC::LocalTensor<Element> const& b, uint32_t m, uint32_t n, uint32_t k,
                                 bool initC)
    {
        AscendC::MmadParams p;
        p.m = (m == 1) ? C0_NUM_PER_FRACTAL : m;  // 1 would turn on gemv mode
        p.n = n;
        p.k = k;
        p.unitFlag = 0;
        p.cmatrixInitVal = initC;
        AscendC::Mmad(c, a, b, p);
        const uint32_t PIPE_M_BARRIER_THRESHOLD = 10;
        if ((m / C0_NUM_PER_FRACTAL) * (n / C0_NUM_PER_FRACTAL) < PIPE_M_BARRIER_THRESHOLD) {
            AscendC::PipeBarrier<PIPE_M>();
        }
    }
};

template <class Dst>
struct QuantOf;
template <>
struct QuantOf<float> {
    static constexpr QuantMode_t VALUE = QuantMode_t::NoQuant;
};
template <>
struct QuantOf<half> {
    static constexpr auto VALUE = QuantMode_t::F322F16;
};

template <class Dst, class Acc>
struct CopyL0CToGm {
    TGEMM_DEVICE void operator()(AscendC::GlobalTensor<Dst> const& dst, AscendC::LocalTensor<Acc> const& src,
                                 layout::RowMajor const& layoutDst)
    {
        AscendC::FixpipeParamsV220 p;
        p.nSize = layoutDst.shape(1);
        p.mSize = layoutDst.shape(0);
        p.srcStride = RoundUp<C0_NUM_PER_FRACTAL>(layoutDst.shape(0));
        p.dstStride = layoutDst.stride(0);
        p.quantPre = QuantOf<Dst>::VALUE;
        p.reluEn = false;
        p.unitFlag = 0;
        AscendC::Fixpipe<Dst, Acc, AscendC::CFG_ROW_MAJOR>(dst, src, p);
    }
};

}  // namespace tile
}  // namespace tgemm
#endif
