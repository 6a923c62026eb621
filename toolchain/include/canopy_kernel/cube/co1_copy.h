// SPDX-License-Identifier: Apache-2.0
// DataCopy from the cube's output: the same as Fixpipe, but some parameters come from registers that
// SetFixpipeNz2ndFlag and SetFixpipePreQuantFlag set.
#ifndef CANOPY_KERNEL_CO1_COPY_H
#define CANOPY_KERNEL_CO1_COPY_H

#include "canopy_kernel/cube/fixpipe.h"

namespace AscendC {

struct DataCopyCO12DstParams {
    DataCopyCO12DstParams() = default;
    DataCopyCO12DstParams(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint32_t dstStrideIn,
                          const uint16_t srcStrideIn, const QuantMode_t quantPreIn, const uint8_t reluPreIn,
                          const bool channelSplitIn, const bool nz2ndEnIn)
        : nSize(nSizeIn),
          mSize(mSizeIn),
          dstStride(dstStrideIn),
          srcStride(srcStrideIn),
          quantPre(quantPreIn),
          reluPre(reluPreIn),
          channelSplit(channelSplitIn),
          nz2ndEn(nz2ndEnIn) {}

    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = BLOCK_CUBE;
    uint32_t dstStride = 0;
    uint16_t srcStride = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

}  // namespace AscendC

namespace canopy::kernel {

inline void set_params(AscendC::FixpipeParamsV220& work, const AscendC::DataCopyCO12DstParams& params) {
    const auto& cube = core_state().cube;
    work.nSize = params.nSize;
    work.mSize = params.mSize;
    work.srcStride = params.srcStride;
    work.dstStride = params.dstStride;
    work.quantPre = params.quantPre;
    work.reluEn = params.reluPre != 0;
    work.isChannelSplit = params.channelSplit;
    work.deqScalar = cube.quantisation;
    work.ndNum = 1;
    if (params.nz2ndEn) {
        work.ndNum = static_cast<uint16_t>(cube.nz_to_nd);
        work.srcNdStride = static_cast<uint16_t>(cube.nz_to_nd >> 16);
        work.dstNdStride = static_cast<uint16_t>(cube.nz_to_nd >> 32);
    }
}
inline AscendC::CO2Layout fixpipe_layout(const AscendC::DataCopyCO12DstParams& params) {
    return params.nz2ndEn ? AscendC::CO2Layout::ROW_MAJOR : AscendC::CO2Layout::NZ;
}

template <class D, class S>
inline void copy_from_co1(D* to, const LocalTensor<S>& source, const AscendC::DataCopyCO12DstParams& params,
                          Hardware memory, Where where) {
    AscendC::FixpipeParamsV220 work;
    set_params(work, params);
    fixpipe("DataCopy", to, source, work, fixpipe_layout(params), nullptr, memory, where);
}

// In the checking variant: the operands, as those of the open instruction.
template <class Destination, class D, class S>
inline void add_co1_copy(const Instruction& instruction, const Destination& dst, const D* target,
                         const LocalTensor<S>& src, const AscendC::DataCopyCO12DstParams& params, Where where) {
    if constexpr (is_checking_variant) {
        AscendC::FixpipeParamsV220 work;
        set_params(work, params);
        work.unitFlag = params.unitFlag;
        add_fixpipe(instruction, dst, target, src, work, fixpipe_layout(params), "DataCopy", where);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, typename U>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "DataCopy", where);
    canopy::kernel::add_co1_copy(instruction, dst, dst.GetPhyAddr(0), src, intriParams, where);
    canopy::kernel::copy_from_co1(dst.GetPhyAddr(0), src, intriParams, Hardware::GM, where);
}

template <typename T, typename U>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "DataCopy", where);
    canopy::kernel::add_co1_copy(instruction, dst, dst.GetPhyAddr(), src, intriParams, where);
    canopy::kernel::copy_from_co1(dst.GetPhyAddr(), src, intriParams, canopy::kernel::memory_of(dst.position()), where);
}

}  // namespace AscendC

#endif
