// SPDX-License-Identifier: Apache-2.0
// Addresses of register loads and stores: address registers, and the checks of checked builds.
#ifndef CANOPY_KERNEL_REGISTER_ADDRESS_H
#define CANOPY_KERNEL_REGISTER_ADDRESS_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/registers/masks.h"
#include "canopy_kernel/registers/told_accesses.h"

namespace canopy::kernel::registers {

using AscendC::Reg::AddrReg;
using AscendC::Reg::PostLiteral;

// In checked builds: the address is in UB with all of `bytes`, and a multiple of `alignment`. The checking variant
// tells a load of these bytes, or whatever `told` says; 0: nothing.
CANOPY_LANES void check_access(const char* operation, const void* address, uint32_t alignment, uint64_t bytes,
                               Where where, uint8_t told = CANOPY_CHECK_READ) {
    if constexpr (is_checking_variant) {
        const auto at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(memory_base(Hardware::UB));
        if (at % alignment != 0) {
            const OutsideOfCall outside;
            refuse("memory.align", where, "%s: the address is UB byte %llu; it must be a multiple of %u bytes",
                   operation, printable(at), alignment);
        }
        if (told != 0) tell_access(told, operation, address, bytes, where);
    }
    if constexpr (checked) {
        const auto at = reinterpret_cast<uintptr_t>(address);
        const auto& memory = core().memory[static_cast<int>(Hardware::UB)];
        const auto base = reinterpret_cast<uintptr_t>(memory.base);
        if (at < base || at + bytes > base + memory.size)
            fail(where, "%s: the access to %llu bytes is outside UB", operation, printable(bytes));
        if (at % alignment != 0)
            fail(where, "%s: the address is UB byte %llu; it must be a multiple of %u bytes", operation,
                 printable(at - base), alignment);
    }
}

// In checked builds: the distance in bytes keeps the alignment of the address.
CANOPY_LANES void check_step(const char* operation, int64_t bytes, uint32_t alignment, Where where) {
    if constexpr (checked)
        if (bytes % alignment != 0)
            fail(where, "%s: the address would advance by %lld bytes; it must be a multiple of %u bytes", operation,
                 static_cast<long long>(bytes), alignment);
}

template <PostLiteral mode>
constexpr void require_update() {
    static_assert(mode == PostLiteral::POST_MODE_UPDATE, "only POST_MODE_UPDATE advances an address by a stride");
}

template <class T>
CANOPY_LANES T* moved(T* address, AddrReg offset) {
    return address + offset.elements;
}
// The block form counts its repeat stride in blocks.
template <class T>
CANOPY_LANES T* moved_blocks(T* address, uint32_t blocks) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address) + uint64_t{blocks} * block_bytes);
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// The sum of indices times strides, in elements.
template <typename T>
CANOPY_LANES AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0) {
    return {index0 * stride0};
}
template <typename T>
CANOPY_LANES AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1) {
    return {index0 * stride0 + index1 * stride1};
}
template <typename T>
CANOPY_LANES AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                                   uint16_t index2, uint32_t stride2) {
    return {index0 * stride0 + index1 * stride1 + index2 * stride2};
}
template <typename T>
CANOPY_LANES AddrReg CreateAddrReg(uint16_t index0, uint32_t stride0, uint16_t index1, uint32_t stride1,
                                   uint16_t index2, uint32_t stride2, uint16_t index3, uint32_t stride3) {
    return {index0 * stride0 + index1 * stride1 + index2 * stride2 + index3 * stride3};
}

}  // namespace AscendC::Reg

#endif
