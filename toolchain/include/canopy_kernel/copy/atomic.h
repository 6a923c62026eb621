// SPDX-License-Identifier: Apache-2.0
// Copies from a core to global memory. Each goes through an `Outlet`, which honours the atomic mode of the core and
// decides whether to bypass the caches. The blocks of a launch run on several threads; atomic copies and scalar atomics
// are correct between them without a lock.
#ifndef CANOPY_KERNEL_ATOMIC_H
#define CANOPY_KERNEL_ATOMIC_H

#include "canopy_kernel/copy/inlet.h"
#include "canopy_kernel/core/check.h"

namespace canopy::kernel {

template <class T>
inline constexpr ElementKind element_kind = is_any_of<T, int8_t>       ? ElementKind::int8
                                            : is_any_of<T, int16_t>    ? ElementKind::int16
                                            : is_any_of<T, half>       ? ElementKind::half
                                            : is_any_of<T, bfloat16_t> ? ElementKind::bfloat16
                                            : is_any_of<T, int32_t>    ? ElementKind::int32
                                            : is_any_of<T, float>      ? ElementKind::float32
                                                                       : ElementKind::as_copied;

// Element types that the atomic copies of this chip support.
template <class T>
inline constexpr bool has_atomic_copy =
    __NPU_ARCH__ == 1001   ? is_same<T, float>
    : __NPU_ARCH__ == 2002 ? is_any_of<T, int16_t, half, float>
                           : is_any_of<T, int8_t, int16_t, half, bfloat16_t, int32_t, float>;

// As many bytes as one compare-and-swap takes.
using SwapWord = choose<__atomic_always_lock_free(16, nullptr), unsigned __int128, uint64_t>;

template <class V>
inline V combined(AtomicKind kind, const V& held, const V& incoming) {
    if (kind == AtomicKind::maximum) return incoming > held ? incoming : held;
    if (kind == AtomicKind::minimum) return incoming < held ? incoming : held;
    return static_cast<V>(held + incoming);
}

// The elements of a word; vectors for the usual types only, because every kernel that sets an atomic mode contains this
// code for all types.
template <class T>
inline SwapWord combined_words(AtomicKind kind, SwapWord held, SwapWord incoming) {
    constexpr uint32_t count = sizeof(SwapWord) / sizeof(T);
    using Lanes = lane_vector<T, count>;
    if constexpr (is_any_of<T, float, int32_t>) {
        return __builtin_bit_cast(SwapWord,
                                  combined(kind, __builtin_bit_cast(Lanes, held), __builtin_bit_cast(Lanes, incoming)));
    } else if constexpr (is_same<T, half>) {
        using Wide = lane_vector<float, count>;
        return __builtin_bit_cast(
            SwapWord,
            __builtin_convertvector(combined(kind, __builtin_convertvector(__builtin_bit_cast(Lanes, held), Wide),
                                             __builtin_convertvector(__builtin_bit_cast(Lanes, incoming), Wide)),
                                    Lanes));
    } else {
        T left[count], right[count];
        __builtin_memcpy(left, &held, sizeof left);
        __builtin_memcpy(right, &incoming, sizeof right);
#pragma clang loop vectorize(disable) unroll(disable)
        for (uint32_t i = 0; i < count; ++i) left[i] = combined(kind, left[i], right[i]);
        __builtin_memcpy(&held, left, sizeof held);
        return held;
    }
}

// Combines the elements of one aligned word; if `whole` is false, only those whose bits are set in `chosen`. The kind
// is not a template argument, for the same reason.
template <class T>
inline void combine_word(AtomicKind kind, SwapWord* word, SwapWord incoming, bool whole, SwapWord chosen) {
    SwapWord held;
    __builtin_memcpy(&held, word, sizeof held);
    for (;;) {
        SwapWord next = combined_words<T>(kind, held, incoming);
        if (!whole) next = (next & chosen) | (held & ~chosen);
        if (kind != AtomicKind::add && next == held) return;
        if (__atomic_compare_exchange_n(word, &held, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

// The words at the ends may have only some elements of the run.
template <class T>
inline void combine_elements(AtomicKind kind, void* memory, const void* local, uint64_t bytes) {
    constexpr uint64_t size = sizeof(SwapWord);
    const auto* from = static_cast<const unsigned char*>(local);
    bytes -= bytes % sizeof(T);
    const uint64_t skipped = reinterpret_cast<uintptr_t>(memory) % size;
    auto* word = reinterpret_cast<SwapWord*>(static_cast<unsigned char*>(memory) - skipped);
    const auto combine_part = [&](uint64_t first, uint64_t part) {
        SwapWord incoming = 0;
        __builtin_memcpy(reinterpret_cast<unsigned char*>(&incoming) + first, from, part);
        combine_word<T>(kind, word, incoming, false, ~SwapWord{0} >> (size - part) * 8 << first * 8);
        ++word;
        from += part;
        bytes -= part;
    };
    if (skipped != 0 && bytes != 0) combine_part(skipped, smaller(size - skipped, bytes));
    for (; bytes >= size; bytes -= size, from += size, ++word) {
        SwapWord incoming;
        __builtin_memcpy(&incoming, from, size);
        combine_word<T>(kind, word, incoming, true, 0);
    }
    if (bytes != 0) combine_part(0, bytes);
}

__attribute__((noinline)) inline void combine_bytes(AtomicKind kind, ElementKind element, void* memory,
                                                    const void* local, uint64_t bytes) {
    switch (element) {
        case ElementKind::int8:
            return combine_elements<int8_t>(kind, memory, local, bytes);
        case ElementKind::int16:
            return combine_elements<int16_t>(kind, memory, local, bytes);
        case ElementKind::half:
            return combine_elements<half>(kind, memory, local, bytes);
        case ElementKind::bfloat16:
            return combine_elements<bfloat16_t>(kind, memory, local, bytes);
        case ElementKind::int32:
            return combine_elements<int32_t>(kind, memory, local, bytes);
        default:
            return combine_elements<float>(kind, memory, local, bytes);
    }
}

// Writes whole cache lines with non-temporal stores. Call `finish_stores` before other threads may read them. For each
// line written, prefetches two lines for copies into the core.
__attribute__((noinline)) inline void copy_streaming(CoreState::Inlets& inlets, unsigned char* to,
                                                     const unsigned char* from, uint64_t bytes) {
    const uint64_t head = -reinterpret_cast<uintptr_t>(to) & 63;
    __builtin_memcpy(to, from, head);
    uint64_t i = head;
    for (; i + 64 <= bytes; i += 64) {
        if ((i - head) % 256 == 0) ask(inlets, 512);
        CacheLineBytes line;
        __builtin_memcpy(&line, from + i, sizeof line);
        __builtin_nontemporal_store(line, reinterpret_cast<CacheLineBytes*>(to + i));
    }
    __builtin_memcpy(to + i, from + i, bytes - i);
}

// Once a launch has written this much, little of it is still cached when it is read again; until then results stay
// cached for the next kernel. Rows shorter than `streamed_row` are cheaper through the caches.
inline constexpr uint64_t cached_results = 16u << 20;
inline constexpr uint64_t streamed_row = 256;

// Writes of one operation to global memory; lives as long as the operation.
class Outlet {
public:
    // `element` is the element type of the copy; it applies if the atomic mode was set without a type.
    explicit Outlet(ElementKind element)
        : state_(core_state()), kind_(state_.atomic), element_(element), streams_(worn_out(state_)) {
        if (state_.atomic_type != ElementKind::as_copied) element_ = state_.atomic_type;
    }
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;
    ~Outlet() {
        state_.stored += stored_;
        if (streamed_) note_streamed(state_);
    }

    void put(void* memory, const void* local, uint64_t bytes) {
        if constexpr (is_tracing_variant) {
            if (kind_ != AtomicKind::none) trace_refuse("a copy that combines with what memory holds");
            return trace_copy(memory, local, bytes);
        }
        stored_ += bytes;
        ask_ahead(bytes);
        if (kind_ == AtomicKind::none && streams_ && bytes >= streamed_row) {
            copy_streaming(state_.inlets, static_cast<unsigned char*>(memory), static_cast<const unsigned char*>(local),
                           bytes);
            streamed_ = true;
            return;
        }
        finish_stores(state_);  // this write may tell another block that the earlier data is complete
        if (__builtin_expect(kind_ != AtomicKind::none, 0))
            state_.combine(kind_, element_, memory, local, bytes);
        else
            __builtin_memcpy(memory, local, bytes);
    }

    bool is_plain() const { return kind_ == AtomicKind::none; }

private:
    static bool worn_out(const CoreState& state) {
        return state.stored > 65536 && state.stored * current_block().count > cached_results;
    }

    CoreState& state_;
    AtomicKind kind_;
    ElementKind element_;
    bool streams_;
    bool streamed_ = false;
    uint64_t stored_ = 0;
};

// Adds an operand of a copy to the open instruction, in the checking variant; `offset` counts bytes. In an atomic mode,
// a destination in global memory is combined with what is there.
template <class T>
inline void name_operand(const char* operand, const LocalTensor<T>& tensor, uint64_t offset, const Walk& walk) {
    if constexpr (is_checking_variant)
        add_access(access_kind(operand), operand, place_of(tensor),
                   reinterpret_cast<const unsigned char*>(tensor.GetPhyAddr()) + offset, walk);
}
template <class T>
inline void name_operand(const char* operand, const GlobalTensor<T>& tensor, uint64_t offset, const Walk& walk) {
    if constexpr (is_checking_variant) {
        const uint8_t kind = access_kind(operand);
        CanopyCheckAccess* const access =
            add_access(kind, operand, place_of(tensor),
                       reinterpret_cast<const unsigned char*>(tensor.GetPhyAddr()) + offset, walk);
        const CoreState& state = core_state();
        if (access == nullptr || kind == CANOPY_CHECK_READ || state.atomic == AtomicKind::none) return;
        const ElementKind element = state.atomic_type == ElementKind::as_copied ? element_kind<T> : state.atomic_type;
        access->kind = CANOPY_CHECK_READ_WRITE;
        access->atomic = static_cast<uint8_t>(state.atomic);
        access->element_type = static_cast<uint8_t>(element);
    }
}

// Copies `count` elements to global memory through an `Outlet`.
template <class T>
inline void store_out(T* memory, const T* local, uint64_t count) {
    Outlet(element_kind<T>).put(memory, local, bytes_of<T>(count));
}

inline void set_atomic(CoreState& state, AtomicKind kind, ElementKind element) {
    state.atomic = kind;
    state.atomic_type = element;
    state.combine = &combine_bytes;
}
template <class T>
inline void set_atomic(AtomicKind kind) {
    set_atomic(core_state(), kind, element_kind<T>);
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T>
inline void SetAtomicAdd() {
    static_assert(canopy::kernel::has_atomic_copy<T>, "SetAtomicAdd: copies of this chip cannot add this type");
    canopy::kernel::set_atomic<T>(canopy::kernel::AtomicKind::add);
}

template <typename T>
inline void SetAtomicMax() {
    static_assert(canopy::kernel::has_atomic_copy<T> && !canopy::kernel::coupled,
                  "SetAtomicMax: copies of this chip cannot take the maximum of this type");
    canopy::kernel::set_atomic<T>(canopy::kernel::AtomicKind::maximum);
}

template <typename T>
inline void SetAtomicMin() {
    static_assert(canopy::kernel::has_atomic_copy<T> && !canopy::kernel::coupled,
                  "SetAtomicMin: copies of this chip cannot take the minimum of this type");
    canopy::kernel::set_atomic<T>(canopy::kernel::AtomicKind::minimum);
}

// Changes the element type of the current atomic mode.
template <typename T>
inline void SetAtomicType() {
    static_assert(canopy::kernel::has_atomic_copy<T>,
                  "SetAtomicType: copies of this chip have no atomics of this type");
    canopy::kernel::core_state().atomic_type = canopy::kernel::element_kind<T>;
}

inline void SetAtomicNone() {
    auto& state = canopy::kernel::core_state();
    state.atomic = canopy::kernel::AtomicKind::none;
    state.atomic_type = canopy::kernel::ElementKind::as_copied;
}

inline void DisableDmaAtomic() { SetAtomicNone(); }

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline constexpr bool has_scalar_atomic = is_any_of<T, int32_t, uint32_t, int64_t, uint64_t, float>;

template <class T>
inline void tell_atomic(const char* name, const T* address, AtomicKind kind, Where where) {
    tell_bypass(name, CANOPY_CHECK_READ_WRITE, address, where, kind, element_kind<T>);
}

// Replaces the value at an address by a function of it, and returns the old value.
template <class T, class Function>
inline T exchange(T* address, Function function) {
    T held;
    __atomic_load(address, &held, __ATOMIC_RELAXED);
    for (;;) {
        T next = function(held);
        if (__atomic_compare_exchange(address, &held, &next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return held;
    }
}

}  // namespace canopy::kernel

namespace AscendC {

// Scalar atomics on one element of global memory; each returns the old value.
template <typename T>
inline T AtomicAdd(__gm__ T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_atomic("AtomicAdd", address, canopy::kernel::AtomicKind::add, where);
    static_assert(canopy::kernel::has_scalar_atomic<T>, "AtomicAdd: this type has no scalar atomics");
    return canopy::kernel::exchange(address, [value](T held) { return static_cast<T>(held + value); });
}

template <typename T>
inline T AtomicMax(__gm__ T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_atomic("AtomicMax", address, canopy::kernel::AtomicKind::maximum, where);
    static_assert(canopy::kernel::has_scalar_atomic<T>, "AtomicMax: this type has no scalar atomics");
    return canopy::kernel::exchange(address, [value](T held) { return value > held ? value : held; });
}

template <typename T>
inline T AtomicMin(__gm__ T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_atomic("AtomicMin", address, canopy::kernel::AtomicKind::minimum, where);
    static_assert(canopy::kernel::has_scalar_atomic<T>, "AtomicMin: this type has no scalar atomics");
    return canopy::kernel::exchange(address, [value](T held) { return value < held ? value : held; });
}

template <typename T>
inline T AtomicExch(__gm__ T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_atomic("AtomicExch", address, canopy::kernel::AtomicKind::none, where);
    static_assert(canopy::kernel::has_scalar_atomic<T>, "AtomicExch: this type has no scalar atomics");
    return canopy::kernel::exchange(address, [value](T) { return value; });
}

// Writes `value2` if the element equals `value1`.
template <typename T>
inline T AtomicCas(__gm__ T* address, T value1, T value2, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_atomic("AtomicCas", address, canopy::kernel::AtomicKind::none, where);
    static_assert(canopy::kernel::has_scalar_atomic<T>, "AtomicCas: this type has no scalar atomics");
    T held = value1;
    __atomic_compare_exchange(address, &held, &value2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return held;
}

}  // namespace AscendC

#endif
