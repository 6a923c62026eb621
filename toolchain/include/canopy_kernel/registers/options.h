// SPDX-License-Identifier: Apache-2.0
// The choices that functions of register programming take as template arguments.
#ifndef CANOPY_KERNEL_REGISTER_OPTIONS_H
#define CANOPY_KERNEL_REGISTER_OPTIONS_H

#include "canopy_kernel/registers/types.h"
#include "canopy_kernel/vector/algorithms.h"
#include "canopy_kernel/vector/reduce.h"

namespace AscendC {

namespace Reg {

using AscendC::CMPMODE;
using AscendC::ReduceType;
using AscendC::RoundMode;

// What happens to lanes outside the mask: they keep their value, or become 0. UNKNOWN means ZEROING.
enum class MaskMergeMode : uint8_t { UNKNOWN = 0, MERGING = 1, ZEROING = 2 };

enum class LoadDist : uint8_t {
    DIST_NORM = 0,
    DIST_BRC_B8 = 1,
    DIST_BRC_B16 = 2,
    DIST_BRC_B32 = 3,
    DIST_US_B8 = 6,
    DIST_US_B16 = 7,
    DIST_DS_B8 = 8,
    DIST_DS_B16 = 9,
    DIST_BDINTLV = 10,
    DIST_DINTLV_B8 = 11,
    DIST_DINTLV_B16 = 12,
    DIST_UNPACK_B8 = 13,
    DIST_UNPACK_B16 = 14,
    DIST_BLK = 15,
    DIST_E2B_B16 = 16,
    DIST_E2B_B32 = 17,
    DIST_UNPACK_B32 = 18,
    DIST_DINTLV_B32 = 19,
    DIST_UNPACK4_B8 = 20,
    DIST_SPLT4CHN_B8 = 21,
    DIST_SPLT2CHN_B8 = 22,
    DIST_SPLT2CHN_B16 = 23
};

enum class StoreDist : uint8_t {
    DIST_NORM_B8 = 0,
    DIST_NORM_B16 = 1,
    DIST_NORM_B32 = 2,
    DIST_FIRST_ELEMENT_B8 = 3,
    DIST_FIRST_ELEMENT_B16 = 4,
    DIST_FIRST_ELEMENT_B32 = 5,
    DIST_PACK_B16 = 6,
    DIST_PACK_B32 = 7,
    DIST_INTLV_B8 = 8,
    DIST_INTLV_B16 = 9,
    DIST_PACK_B64 = 10,
    DIST_INTLV_B32 = 11,
    DIST_PACK4_B32 = 12,
    DIST_MRG4CHN_B8 = 13,
    DIST_MRG2CHN_B8 = 14,
    DIST_MRG2CHN_B16 = 15,
    DIST_NORM = 16
};

// DIST_US is for loads, DIST_PACK for stores.
enum class MaskDist : uint8_t { DIST_NORM = 0, DIST_US = 1, DIST_DS = 2, DIST_PACK = 1 };

enum class MaskPattern : uint8_t {
    ALL = 0,
    VL1 = 1,
    VL2 = 2,
    VL3 = 3,
    VL4 = 4,
    VL8 = 5,
    VL16 = 6,
    VL32 = 7,
    VL64 = 8,
    VL128 = 9,
    M3 = 10,
    M4 = 11,
    H = 12,
    Q = 13,
    ALLF = 15
};

enum class PostLiteral : uint8_t { POST_MODE_NORMAL = 0, POST_MODE_UPDATE = 1 };
enum class DataCopyMode : uint8_t { DATA_BLOCK_COPY = 0 };
enum class HighLowPart : uint8_t { LOWEST = 0, HIGHEST = 1 };
enum class IndexOrder : uint8_t { INCREASE_ORDER = 0, DECREASE_ORDER = 1 };
enum class GatherMaskMode : uint8_t { NO_STORE_REG = 0, STORE_REG = 1 };
enum class PairReduce : uint8_t { SUM = 0 };
enum class StoreMode : uint8_t { NOSTORED = 0, STORED = 1 };
enum class RoundControl : uint8_t { NO_ROUND = 0, ROUND = 1 };
enum class HistogramsBinType : uint8_t { BIN0 = 0, BIN1, BIN2, BIN3, BIN4, BIN5, BIN6, BIN7 };
enum class HistogramsType : uint8_t { FREQUENCY = 0, ACCUMULATE = 1 };
enum class MemType : uint8_t { VEC_STORE = 0, VEC_LOAD, SCALAR_STORE, SCALAR_LOAD, VEC_ALL, SCALAR_ALL };

// Casts: which of the narrow elements that share a wide one takes part, and what happens beyond the range.
enum class RegLayout : int8_t { UNKNOWN = -1, ZERO = 0, ONE = 1, TWO = 2, THREE = 3 };
enum class SatMode : int8_t { UNKNOWN = -1, NO_SAT = 0, SAT = 1 };
struct CastTrait {
    RegLayout layoutMode = RegLayout::UNKNOWN;
    SatMode satMode = SatMode::UNKNOWN;
    MaskMergeMode mrgMode = MaskMergeMode::UNKNOWN;
    RoundMode roundMode = RoundMode::UNKNOWN;
};
inline constexpr CastTrait castTrait = {RegLayout::UNKNOWN, SatMode::UNKNOWN, MaskMergeMode::UNKNOWN,
                                        RoundMode::UNKNOWN};

// A merge mode together with an algorithm.
#define CANOPY_SPECIFIC_MODE(Name)                                 \
    struct Name##SpecificMode {                                    \
        MaskMergeMode mrgMode = MaskMergeMode::ZEROING;            \
        AscendC::Name##Algo algo = AscendC::Name##Algo::INTRINSIC; \
    };
CANOPY_SPECIFIC_MODE(Exp)
CANOPY_SPECIFIC_MODE(Ln)
CANOPY_SPECIFIC_MODE(Log)
CANOPY_SPECIFIC_MODE(Log2)
CANOPY_SPECIFIC_MODE(Log10)
#undef CANOPY_SPECIFIC_MODE
struct SqrtSpecificMode {
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
    bool precisionMode = false;
    SqrtAlgo algo = SqrtAlgo::INTRINSIC;
};
struct DivSpecificMode {
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
    bool precisionMode = false;
    DivAlgo algo = DivAlgo::INTRINSIC;
};

}  // namespace Reg

inline constexpr Reg::CastTrait layoutZMrgZ = {Reg::RegLayout::ZERO, Reg::SatMode::UNKNOWN, Reg::MaskMergeMode::ZEROING,
                                               RoundMode::UNKNOWN};
inline constexpr Reg::CastTrait LayoutZMrgZRndRSatNS = {Reg::RegLayout::ZERO, Reg::SatMode::NO_SAT,
                                                        Reg::MaskMergeMode::ZEROING, RoundMode::CAST_RINT};

}  // namespace AscendC

// Everything internal to register programming. It sees the rest of the kernel language.
namespace canopy::kernel::registers {

using namespace canopy::kernel;

using AscendC::Reg::MaskMergeMode;

// A mode argument is a merge mode, or the address of an object that contains one.
template <auto mode>
constexpr MaskMergeMode merge_mode() {
    if constexpr (is_same<plain<decltype(mode)>, MaskMergeMode>)
        return mode;
    else
        return mode->mrgMode;
}

}  // namespace canopy::kernel::registers

#endif
