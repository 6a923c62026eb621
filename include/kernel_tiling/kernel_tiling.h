// SPDX-License-Identifier: Apache-2.0
// Tiling structures as kernels read them: plain data, written by the host's tiling library. Included by host and kernel
// sources alike.
#ifndef CANOPY_KERNEL_TILING_KERNEL_TILING_H
#define CANOPY_KERNEL_TILING_KERNEL_TILING_H

#include <stdint.h>

// The fields of the tiling of a matrix product, in memory order; each is an int32_t.
// clang-format off
#define CANOPY_CUBE_TILING_FIELDS(FIELD) \
    FIELD(usedCoreNum) FIELD(M) FIELD(N) FIELD(Ka) FIELD(Kb) FIELD(singleCoreM) FIELD(singleCoreN) \
    FIELD(singleCoreK) FIELD(baseM) FIELD(baseN) FIELD(baseK) FIELD(depthA1) FIELD(depthB1) FIELD(stepM) \
    FIELD(stepN) FIELD(isBias) FIELD(transLength) FIELD(iterateOrder) FIELD(shareMode) FIELD(shareL1Size) \
    FIELD(shareL0CSize) FIELD(shareUbSize) FIELD(batchM) FIELD(batchN) FIELD(singleBatchM) FIELD(singleBatchN) \
    FIELD(stepKa) FIELD(stepKb) FIELD(depthAL1CacheUB) FIELD(depthBL1CacheUB) FIELD(dbL0A) FIELD(dbL0B) \
    FIELD(dbL0C) FIELD(ALayoutInfoB) FIELD(ALayoutInfoS) FIELD(ALayoutInfoN) FIELD(ALayoutInfoG) \
    FIELD(ALayoutInfoD) FIELD(BLayoutInfoB) FIELD(BLayoutInfoS) FIELD(BLayoutInfoN) FIELD(BLayoutInfoG) \
    FIELD(BLayoutInfoD) FIELD(CLayoutInfoB) FIELD(CLayoutInfoS1) FIELD(CLayoutInfoN) FIELD(CLayoutInfoG) \
    FIELD(CLayoutInfoS2) FIELD(BatchNum) FIELD(mxTypePara)
// clang-format on

namespace AscendC {
namespace tiling {

struct TCubeTiling {
#define CANOPY_FIELD(name) int32_t name = 0;
    CANOPY_CUBE_TILING_FIELDS(CANOPY_FIELD)
#undef CANOPY_FIELD
};

}  // namespace tiling
}  // namespace AscendC

using AscendC::tiling::TCubeTiling;

#endif
