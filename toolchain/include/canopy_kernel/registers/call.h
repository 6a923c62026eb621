// SPDX-License-Identifier: Apache-2.0
// Calls of register functions, and what they have beside registers: barriers, the special register AR, and printing.
#ifndef CANOPY_KERNEL_REGISTER_CALL_H
#define CANOPY_KERNEL_REGISTER_CALL_H

#include "canopy_kernel/core/debug.h"
#include "canopy_kernel/registers/lanes.h"
#include "canopy_kernel/registers/told_accesses.h"
#include "canopy_kernel/simt/simt.h"

namespace canopy::kernel {

// An argument of a register function. An address may be a byte offset in UB, as kernels without tensors write it.
template <class T>
CANOPY_LANES T* placed(T* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at >= memory_size(Hardware::UB)) return address;
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(memory_base(Hardware::UB)) + at);
}
template <class T>
CANOPY_LANES const T& placed(const T& argument) {
    return argument;
}

}  // namespace canopy::kernel

// Calls a register function. SIMT functions are called with the number of threads as the first argument.
template <auto function, class... Arguments,
          class = std::enable_if_t<std::is_invocable_v<decltype(function), Arguments...>>>
CANOPY_LANES void asc_vf_call(Arguments... arguments) {
    if constexpr (canopy::kernel::registers::is_tracing_variant)
        return canopy::kernel::registers::trace_refuse("a register function");
    canopy::kernel::core_state().c_interface.address_sites = 0;
    [[maybe_unused]] const canopy::kernel::registers::RegisterScope call;
    function(canopy::kernel::placed(arguments)...);
}

namespace canopy::kernel::registers {

template <class T>
CANOPY_LANES double printable_element(const T& value) {
    if constexpr (is_small_float<T> && packing<T> == 1)
        return T::Format::decode(value.storage);
    else if constexpr (packing<T> == 2)
        return value.storage;
    else
        return static_cast<double>(widen(value));
}

template <class T>
__attribute__((noinline)) void print_register(const Register<T>* registers, int count) {
    Text text;
    text.add("[");
    for (int r = 0; r < count; ++r)
        for (uint32_t i = 0; i < register_bytes / sizeof(T); ++i) {
            const T* element = reinterpret_cast<const T*>(registers + r) + i;
            const char* separator = r == 0 && i == 0 ? "" : ", ";
            if constexpr (is_complex<T>)
                text.add("%s(%g, %g)", separator, static_cast<double>(static_cast<float>(element->real)),
                         static_cast<double>(static_cast<float>(element->imag)));
            else if constexpr (is_integer<T>)
                text.add("%s%lld", separator, static_cast<long long>(*element));
            else
                text.add("%s%g", separator, printable_element(*element));
        }
    text.add("]\n");
    text.print();
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

template <typename T, const RegTrait& regTrait>
void RegTensor<T, regTrait>::Print() const {
    canopy::kernel::registers::print_register(reg, REG_NUM);
}

// Loads and stores of a register function happen in the order of the program.
template <MemType src, MemType dst>
CANOPY_LANES void LocalMemBar() {}

template <SpecialPurposeReg spr>
CANOPY_LANES void ClearSpr() {
    canopy::kernel::registers::core_state().squeezed = {};
}
template <SpecialPurposeReg spr>
CANOPY_LANES int64_t GetSpr() {
    return canopy::kernel::registers::core_state().squeezed.total;
}

}  // namespace AscendC::Reg

#endif
