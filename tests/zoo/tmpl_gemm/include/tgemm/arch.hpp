// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_ARCH_HPP
#define TGEMM_ARCH_HPP
#include "tgemm/common.hpp"

namespace tgemm {
namespace Arch {

struct AtlasA2 {
    static constexpr uint32_t L1_SIZE = 512 * 1024;
    static constexpr uint32_t L0A_SIZE = 64 * 1024;
    static constexpr uint32_t L0B_SIZE = 64 * 1024;
    static constexpr uint32_t L0C_SIZE = 128 * 1024;
};

template <AscendC::TPosition POSITION, uint32_t SIZE>
struct LocalBuffer {
    TGEMM_DEVICE LocalBuffer()
    {
        AscendC::TBuf<POSITION> tbuf;
        GetTPipePtr()->InitBuffer(tbuf, SIZE);
        tensor = tbuf.template Get<uint8_t>();
    }
    template <class Element>
    TGEMM_DEVICE AscendC::LocalTensor<Element> GetBufferByByte(uint32_t offset) const
    {
        return tensor[offset].template ReinterpretCast<Element>();
    }
    AscendC::LocalTensor<uint8_t> tensor;
};

template <class ArchTag>
struct Resource {
    AscendC::TPipe pipe;
    LocalBuffer<AscendC::TPosition::A1, ArchTag::L1_SIZE> l1Buf;
    LocalBuffer<AscendC::TPosition::A2, ArchTag::L0A_SIZE> l0ABuf;
    LocalBuffer<AscendC::TPosition::B2, ArchTag::L0B_SIZE> l0BBuf;
    LocalBuffer<AscendC::TPosition::CO1, ArchTag::L0C_SIZE> l0CBuf;
    TGEMM_DEVICE Resource() { pipe.Destroy(); }
};

}  // namespace Arch
}  // namespace tgemm
#endif
