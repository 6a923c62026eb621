// SPDX-License-Identifier: Apache-2.0
// Host functions that size the temporary memory of high-level vector operations. The operations are not supported yet;
// calling one of these does not compile, with a message that names it. The declarations take `...`, so any other viable
// function of the same name wins. canopy-cc explains missing names by itself.
#ifndef CANOPY_TILING_VECTOR_TILING_H
#define CANOPY_TILING_VECTOR_TILING_H

#ifndef CANOPY_KERNEL_HOST_H

namespace AscendC {

#define CANOPY_UNSUPPORTED(name)                                                                      \
    __attribute__((unavailable("AscendC::" #name " is not supported by Canopy yet"))) void name(...); \
    template <class First, class... More>                                                             \
    __attribute__((unavailable("AscendC::" #name " is not supported by Canopy yet"))) void name(...);

CANOPY_UNSUPPORTED(GetAcoshMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetAntiQuantizeMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetAscendAntiQuantMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetAscendDequantMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetAscendQuantMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetAxpyMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetCeilMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetClampMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetCumSumMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetDeepNormMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetDeepNormTilingInfo)
CANOPY_UNSUPPORTED(GetDequantizeMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetDropOutMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetExpMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetFmodMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetFracMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetGeGLUMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetGeluMinTmpSize)
CANOPY_UNSUPPORTED(GetLayerNormGradBetaMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetLayerNormGradBetaNDTilingInfo)
CANOPY_UNSUPPORTED(GetLayerNormGradMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetLayerNormGradNDTilingInfo)
CANOPY_UNSUPPORTED(GetLayerNormMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetLayerNormNDTilingInfo)
CANOPY_UNSUPPORTED(GetLogSoftMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetNormalizeMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetPadMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetPowerMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetQuantizeMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetReduceMaxMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetRintMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSelectMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSigmoidMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSiluTmpSize)
CANOPY_UNSUPPORTED(GetSoftMaxFlashV2MinTmpSize)
CANOPY_UNSUPPORTED(GetSoftMaxGradMinTmpSize)
CANOPY_UNSUPPORTED(GetSoftMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSortMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSumMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSwiGLUMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetSwishTmpSize)
CANOPY_UNSUPPORTED(GetTopKMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetTransposeMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetTransposeTilingInfo)
CANOPY_UNSUPPORTED(GetUnPadMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetWelfordUpdateMaxMinTmpSize)
CANOPY_UNSUPPORTED(GetXorMaxMinTmpSize)
CANOPY_UNSUPPORTED(PadTilingFunc)
CANOPY_UNSUPPORTED(SoftMaxFlashV2TilingFunc)
CANOPY_UNSUPPORTED(SoftMaxGradTilingFunc)
CANOPY_UNSUPPORTED(SoftMaxTilingFunc)
CANOPY_UNSUPPORTED(TopKTilingFunc)
CANOPY_UNSUPPORTED(UnPadTilingFunc)

#undef CANOPY_UNSUPPORTED

}  // namespace AscendC

#endif

#endif
