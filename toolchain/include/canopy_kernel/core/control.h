// SPDX-License-Identifier: Apache-2.0
// The control register of a core, with access to single bits, and the scale and offset that integer casts apply.
#ifndef CANOPY_KERNEL_CONTROL_H
#define CANOPY_KERNEL_CONTROL_H

#include "canopy_kernel/core/math.h"
#include "canopy_kernel/core/tensor.h"

namespace canopy::kernel {

// The bit of the control register that changes results: casts keep infinities and the lower bits of integers instead of
// saturating.
inline constexpr int no_saturation_bit = 48;

// Casts of registers saturate as each call says, unless this bit gives the decision to the control register; and
// whether a saturating cast to eight bits keeps NaN.
inline constexpr int cast_control_bit = 60;
inline constexpr int cast_nan_bit = 50;
// Some block of this image has set one of these two bits; until then casts do not look at the register.
inline __attribute__((visibility("hidden"))) bool any_cast_control = false;

template <int first, int last>
inline constexpr uint64_t control_bits = (last - first == 63 ? ~0ull : (1ull << (last - first + 1)) - 1) << first;

// Scaling of a dequantising cast: the register holds one pair for all elements, or the address of sixteen pairs.
inline constexpr uint64_t scale_is_set = 1ull << 63;
inline constexpr uint64_t scale_is_vector = 1ull << 62;

struct Dequantisation {
    float scale = 1.0f;
    int32_t offset = 0;
    bool is_signed = true;
};

// Bits 0..31: the scale; 37..45: the offset, a 9-bit number; 46: set if the result is signed.
inline uint64_t pack_dequantisation(float scale, int16_t offset, bool is_signed) {
    return bits_as<uint32_t>(scale) | (static_cast<uint64_t>(offset & 0x1ff) << 37) | (uint64_t{is_signed} << 46);
}

inline Dequantisation unpack_dequantisation(uint64_t bits) {
    const auto raw = static_cast<int32_t>((bits >> 37) & 0x1ff);
    return {bits_as<float>(static_cast<uint32_t>(bits)), raw >= 256 ? raw - 512 : raw, ((bits >> 46) & 1) != 0};
}

}  // namespace canopy::kernel

namespace AscendC {

template <int8_t startBit, int8_t endBit>
inline void SetCtrlSpr(int64_t value) {
    static_assert(0 <= startBit && startBit <= endBit && endBit < 64, "SetCtrlSpr: bits are numbered from 0 to 63");
    constexpr uint64_t bits = canopy::kernel::control_bits<startBit, endBit>;
    auto& control = canopy::kernel::core_state().control;
    control = (control & ~bits) | ((static_cast<uint64_t>(value) << startBit) & bits);
    constexpr uint64_t of_casts = 1ull << canopy::kernel::cast_control_bit | 1ull << canopy::kernel::cast_nan_bit;
    if constexpr ((bits & of_casts) != 0)
        if ((control & of_casts) != 0) __atomic_store_n(&canopy::kernel::any_cast_control, true, __ATOMIC_RELAXED);
}

template <int8_t startBit, int8_t endBit>
inline int64_t GetCtrlSpr() {
    static_assert(0 <= startBit && startBit <= endBit && endBit < 64, "GetCtrlSpr: bits are numbered from 0 to 63");
    constexpr uint64_t bits = canopy::kernel::control_bits<startBit, endBit>;
    return static_cast<int64_t>((canopy::kernel::core_state().control & bits) >> startBit);
}

template <int8_t startBit, int8_t endBit>
inline void ResetCtrlSpr() {
    SetCtrlSpr<startBit, endBit>(0);
}

// Sixteen scales, offsets and signs, one for each element of a block.
struct VdeqInfo {
    VdeqInfo() = default;
    VdeqInfo(const float scales[16], const int16_t offsets[16], const bool signs[16]) {
        for (int i = 0; i < 16; ++i) {
            vdeqScale[i] = scales[i];
            vdeqOffset[i] = offsets[i];
            vdeqSignMode[i] = signs[i];
        }
    }

    float vdeqScale[16] = {};
    int16_t vdeqOffset[16] = {};
    bool vdeqSignMode[16] = {};
};

inline void SetDeqScale(half scale) {
    canopy::kernel::core_state().dequantisation =
        canopy::kernel::scale_is_set | canopy::kernel::pack_dequantisation(static_cast<float>(scale), 0, true);
}

inline void SetDeqScale(float scale, int16_t offset, bool signMode) {
    canopy::kernel::core_state().dequantisation =
        canopy::kernel::scale_is_set | canopy::kernel::pack_dequantisation(scale, offset, signMode);
}

// Stores the sixteen parameters in the tensor, which must have 128 bytes and stay allocated while they are in use.
template <class T>
inline void SetDeqScale(const LocalTensor<T>& vdeqTensor, const VdeqInfo& vdeqInfo,
                        canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::Instruction(PIPE_S, "SetDeqScale", where, CANOPY_CHECK_FILL)
        .writes("vdeqTensor", vdeqTensor, 16 * sizeof(uint64_t));
    auto* parameters = reinterpret_cast<uint64_t*>(vdeqTensor.GetPhyAddr());
    for (int i = 0; i < 16; ++i)
        parameters[i] = canopy::kernel::pack_dequantisation(vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i],
                                                            vdeqInfo.vdeqSignMode[i]);
    canopy::kernel::core_state().dequantisation =
        canopy::kernel::scale_is_vector | (reinterpret_cast<uintptr_t>(parameters) & ((1ull << 48) - 1));
}

inline float ToFloat(const bfloat16_t& value) { return canopy::kernel::widen(value); }
inline bfloat16_t ToBfloat16(const float& value) { return canopy::kernel::to_bfloat16(value); }

}  // namespace AscendC

#endif
