// SPDX-License-Identifier: Apache-2.0
// What the functions of the C interface share: the count form of an instruction, the wait of the _sync forms, and the
// lists of element types.
#ifndef CANOPY_KERNEL_C_INTERFACE_SUPPORT_H
#define CANOPY_KERNEL_C_INTERFACE_SUPPORT_H

#include "canopy_kernel/intrinsics/intrinsics_vector.h"

namespace canopy::c_interface {

// The element types of a destination and of its sources.
template <class D, class S>
struct Pair {
    using destination = D;
    using source = S;
};

// The parameter type of a number whose type the pointers determine: 2 may be passed for a half.
template <class T>
struct Exactly {
    using type = kernel::plain<T>;
};
template <class T>
using number = typename Exactly<T>::type;

// Blocks of 32 bytes from one repeat to the next if the elements of T are contiguous; the widest of the types decides
// how many elements a repeat has.
template <class T, class... Types>
inline constexpr uint8_t step = static_cast<uint8_t>(kernel::bytes_of<T>(kernel::lanes<T, Types...>) / 32);

// Runs an instruction on the first `count` elements and leaves the mask register as it was.
template <class Act>
inline void on_elements(uint32_t count, const Act& act) {
    auto& state = kernel::core_state();
    const bool counter_mode = state.counter_mode;
    const uint64_t low = state.mask[0], high = state.mask[1];
    state.counter_mode = true;
    state.mask[0] = count;
    state.mask[1] = 0;
    act();
    state.counter_mode = counter_mode;
    state.mask[0] = low;
    state.mask[1] = high;
}

// The end of a _sync form.
inline void finish(kernel::Where where) { kernel::order_pipe(PIPE_ALL, "asc_sync", where); }

}  // namespace canopy::c_interface

#define CANOPY_C_LIST(...) __VA_ARGS__
// Defines name_sync: `name` followed by a wait for everything. The lists are in parentheses.
#define CANOPY_C_SYNC(name, types, parameters, arguments)             \
    template <CANOPY_C_LIST types>                                    \
    inline void name##_sync(CANOPY_C_LIST parameters, CANOPY_WHERE) { \
        name(CANOPY_C_LIST arguments, where);                         \
        canopy::c_interface::finish(where);                           \
    }

#endif
