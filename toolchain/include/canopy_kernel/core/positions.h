// SPDX-License-Identifier: Apache-2.0
// Where data is on a core: logical positions, their memories and the sizes on each chip; pipes, and the events between
// them.
#ifndef CANOPY_KERNEL_POSITIONS_H
#define CANOPY_KERNEL_POSITIONS_H

#include <stdint.h>

#include "canopy_kernel/target/architecture.h"

enum pipe_t : int { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX = 10 };

enum event_t : int { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

// The source pipe and the destination pipe of a flag.
enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    MAX
};

using TEventID = int8_t;

constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t VECTOR_REG_WIDTH = 256;
constexpr int32_t BLOCK_CUBE = 16;
constexpr int32_t CUBE_MAX_SIZE = 256;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr uint64_t MASK_PLACEHOLDER = 0;

#if __NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002
constexpr int32_t TOTAL_UB_SIZE = 256 * 1024;
constexpr int32_t TMP_UB_OFFSET = 248 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 1024 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 256 * 1024;
constexpr int32_t TOTAL_BIAS_SIZE = 0;
constexpr int32_t TOTAL_FIXBUF_SIZE = 0;
#elif __NPU_ARCH__ == 3002
constexpr int32_t TOTAL_UB_SIZE = 248 * 1024;
constexpr int32_t TMP_UB_OFFSET = 240 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 1024 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr int32_t TOTAL_BIAS_SIZE = 0;
constexpr int32_t TOTAL_FIXBUF_SIZE = 0;
#elif __NPU_ARCH__ >= 3003
constexpr int32_t TOTAL_UB_SIZE = 256 * 1024;
constexpr int32_t TMP_UB_OFFSET = 248 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 256 * 1024;
constexpr int32_t TOTAL_BIAS_SIZE = 4 * 1024;
constexpr int32_t TOTAL_FIXBUF_SIZE = 16 * 1024;
#else
constexpr int32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TMP_UB_OFFSET = 184 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr int32_t TOTAL_BIAS_SIZE = 1024;
constexpr int32_t TOTAL_FIXBUF_SIZE = 7 * 1024;
#endif
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = TMP_UB_OFFSET;
constexpr int32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr int32_t TOTAL_L0B_SIZE = 64 * 1024;
constexpr int32_t ASC_UB_SIZE = TMP_UB_OFFSET;
constexpr int32_t ASC_L1_SIZE = TOTAL_L1_SIZE;
constexpr int32_t ASC_L0A_SIZE = TOTAL_L0A_SIZE;
constexpr int32_t ASC_L0B_SIZE = TOTAL_L0B_SIZE;
constexpr int32_t ASC_L0C_SIZE = TOTAL_L0C_SIZE;

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::Hardware;
using AscendC::TPosition;

// Coupled chips have no separate memories for bias and output scaling.
inline constexpr bool coupled = __NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002 || __NPU_ARCH__ == 3002;

constexpr Hardware memory_of(TPosition position) {
    switch (position) {
        case TPosition::GM:
            return Hardware::GM;
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::TSCM:
        case TPosition::SPM:
            return Hardware::L1;
        case TPosition::C1:
            return coupled ? Hardware::UB : Hardware::L1;
        case TPosition::A2:
            return Hardware::L0A;
        case TPosition::B2:
            return Hardware::L0B;
        case TPosition::C2:
            return coupled ? Hardware::L0C : Hardware::BIAS;
        case TPosition::CO1:
            return Hardware::L0C;
        case TPosition::CO2:
            return coupled ? Hardware::UB : Hardware::GM;
        case TPosition::C2PIPE2GM:
        case TPosition::C2PIPE2LOCAL:
            return Hardware::FIXBUF;
        default:
            return Hardware::UB;
    }
}

constexpr uint32_t memory_size(Hardware memory) {
    switch (memory) {
        case Hardware::UB:
            return AscendC::TOTAL_UB_SIZE;
        case Hardware::L1:
            return AscendC::TOTAL_L1_SIZE;
        case Hardware::L0A:
            return AscendC::TOTAL_L0A_SIZE;
        case Hardware::L0B:
            return AscendC::TOTAL_L0B_SIZE;
        case Hardware::L0C:
            return AscendC::TOTAL_L0C_SIZE;
        case Hardware::BIAS:
            return AscendC::TOTAL_BIAS_SIZE;
        case Hardware::FIXBUF:
            return AscendC::TOTAL_FIXBUF_SIZE;
        default:
            return 0;
    }
}

constexpr const char* name_of(Hardware memory) {
    constexpr const char* names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "bias buffer", "fixpipe buffer", "?"};
    return names[static_cast<int>(memory)];
}

constexpr const char* name_of(TPosition position) {
    constexpr const char* names[] = {"GM",  "A1",   "A2",        "B1",           "B2",     "C1",
                                     "C2",  "CO1",  "CO2",       "VECIN",        "VECOUT", "VECCALC",
                                     "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL", "?"};
    return names[static_cast<int>(position)];
}

}  // namespace canopy::kernel

#endif
