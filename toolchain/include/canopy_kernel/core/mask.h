// SPDX-License-Identifier: Apache-2.0
// The vector mask of a core, and the elements it selects for an operation. The mask is a register of the core; the
// count form of an operation neither reads nor writes it.
#ifndef CANOPY_KERNEL_MASK_H
#define CANOPY_KERNEL_MASK_H

#include "canopy_kernel/core/checking.h"

// If not 0, every operation checks its operands against the size and the alignment of their tensors.
#ifndef CANOPY_CHECKED
#if defined(ASCENDC_DEBUG)
#define CANOPY_CHECKED 1
#else
#define CANOPY_CHECKED 0
#endif
#endif

namespace AscendC {

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

}  // namespace AscendC

namespace canopy::kernel {

inline constexpr bool checked = CANOPY_CHECKED != 0;
// Checked builds end the block at the first wrong parameter; the checking variant tells the checker (`refuse`).
inline constexpr bool tests_parameters = checked || is_checking_variant;

inline constexpr uint32_t block_bytes = 32;
inline constexpr uint32_t repeat_bytes = 256;

constexpr uint64_t leading_ones(uint64_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

// The elements one call accesses. A repeat has `width` lanes (256 bytes of the widest operand). If not `sparse`: the
// first `lanes` lanes of each of `repeats` repeats, then the first `tail` lanes of one more. If `sparse`: the lanes
// whose bit is set, in each of `repeats` repeats; with 256 lanes a bit selects two of them.
struct Selection {
    uint32_t width = 0;
    uint32_t lanes = 0;
    uint32_t tail = 0;
    bool sparse = false;
    uint64_t repeats = 0;
    uint64_t bits[2] = {};

    bool empty() const { return repeats == 0 && tail == 0; }
};

// Counter mode: `total` elements, over as many repeats as needed.
inline Selection select_total(uint32_t width, uint64_t total) {
    Selection selection;
    selection.width = selection.lanes = width;
    selection.repeats = total / width;
    selection.tail = static_cast<uint32_t>(total % width);
    return selection;
}

// The first `mask` lanes of each repeat, at most all of them.
inline Selection select_leading(uint32_t width, uint64_t mask, uint64_t repeats) {
    Selection selection;
    selection.width = width;
    selection.lanes = static_cast<uint32_t>(mask < width ? mask : width);
    selection.repeats = selection.lanes == 0 ? 0 : repeats;
    return selection;
}

// The lanes whose bits are set.
inline Selection select_bits(uint32_t width, uint64_t low, uint64_t high, uint64_t repeats) {
    const uint32_t lanes_per_bit = width > 128 ? width / 128 : 1;
    const uint32_t bits = width / lanes_per_bit;
    low &= leading_ones(bits);
    high = bits > 64 ? high & leading_ones(bits - 64) : 0;
    const bool low_leads = (low & (low + 1)) == 0;
    const bool high_leads = (high & (high + 1)) == 0;
    const bool leads = low_leads && (high == 0 || (low == ~0ull && high_leads));
    const auto ones = static_cast<uint32_t>(__builtin_popcountll(low) + __builtin_popcountll(high));
    Selection selection = select_leading(width, ones * lanes_per_bit, repeats);
    selection.sparse = !leads && selection.repeats != 0;
    selection.bits[0] = low;
    selection.bits[1] = high;
    return selection;
}

// Sets the register's bits for the first `mask` of `width` lanes.
inline void set_leading_bits(CoreState& state, uint32_t width, uint64_t mask) {
    const uint32_t lanes_per_bit = width > 128 ? width / 128 : 1;
    const uint64_t bits = (mask + lanes_per_bit - 1) / lanes_per_bit;
    state.mask[0] = leading_ones(bits);
    state.mask[1] = bits > 64 ? leading_ones(bits - 64) : 0;
}

inline Selection select_by_register(const CoreState& state, uint32_t width, uint64_t repeats) {
    if (state.counter_mode) return select_total(width, state.mask[0]);
    return select_bits(width, state.mask[0], state.mask[1], repeats);
}

// A mask argument whose type is a template parameter: the address of bits, or a number.
inline const uint64_t* mask_of(const uint64_t* bits) { return bits; }
inline uint64_t mask_of(uint64_t count) { return count; }

// The meaning of (mask, repeatTime) in a call. `set` is the template argument isSetMask: if true, the call's mask
// replaces the register; otherwise the register decides and `mask` is a placeholder.
template <bool set>
inline Selection select(uint32_t width, uint64_t mask, uint64_t repeats) {
    CoreState& state = core_state();
    if constexpr (!set) return select_by_register(state, width, repeats);
    if (state.counter_mode) {
        state.mask[0] = mask;
        state.mask[1] = 0;
        return select_total(width, mask);
    }
    set_leading_bits(state, width, mask);
    return select_leading(width, mask, repeats);
}

template <bool set>
inline Selection select(uint32_t width, const uint64_t* mask, uint64_t repeats) {
    CoreState& state = core_state();
    if constexpr (set) {
        state.mask[0] = mask[0];
        state.mask[1] = width > 64 ? mask[1] : 0;
    }
    return select_by_register(state, width, repeats);
}

}  // namespace canopy::kernel

namespace AscendC {

// From here on the mask counts elements, over as many repeats as needed.
inline void SetMaskCount() { canopy::kernel::core_state().counter_mode = true; }
// From here on the mask selects lanes of each repeat.
inline void SetMaskNorm() { canopy::kernel::core_state().counter_mode = false; }

template <class T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    auto& state = canopy::kernel::core_state();
    state.mask[0] = maskLow;
    state.mask[1] = mode == MaskMode::COUNTER ? 0 : maskHigh;
}

// Selects the first `len` lanes of a repeat of T, or `len` elements in counter mode.
template <class T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t len) {
    auto& state = canopy::kernel::core_state();
    if constexpr (mode == MaskMode::COUNTER) {
        state.mask[0] = static_cast<uint64_t>(len);
        state.mask[1] = 0;
    } else {
        canopy::kernel::set_leading_bits(state, canopy::kernel::repeat_bytes / sizeof(T), static_cast<uint64_t>(len));
    }
}

inline void ResetMask() {
    auto& state = canopy::kernel::core_state();
    state.mask[0] = state.mask[1] = ~0ull;
}

}  // namespace AscendC

#endif
