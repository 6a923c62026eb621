// SPDX-License-Identifier: Apache-2.0
// Copies between the cores of a group, from architecture 3510 on: a cube core writes into the unified buffers of the
// vector cores of its group, and these write into its L1. An address in such a memory names the same byte of it on
// every core; the operation decides which core is meant. Kernels for one kind of core have all memories to themselves.
#ifndef CANOPY_KERNEL_PARTNER_H
#define CANOPY_KERNEL_PARTNER_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/check.h"

namespace canopy::kernel {

inline constexpr bool reaches_partners = __NPU_ARCH__ >= 3510;

// Does this core write into the unified buffers of other cores?
inline bool stores_to_vector_cores() { return reaches_partners && on_cube_core() && current_block().vector_count != 0; }

// The place in a memory of another core that has the address `own` in the same memory of this one. `bytes` bytes from
// there on must be in it.
__attribute__((noinline)) inline void* place_at_partner(const char* operation, const void* own, uint64_t bytes,
                                                        const CanopyCore& partner, Hardware memory, Where where) {
    const auto& here = core().memory[static_cast<int>(memory)];
    const auto* byte = static_cast<const unsigned char*>(own);
    if (byte < here.base || byte >= here.base + here.size)
        fail(where, "%s: the destination is not in %s", operation, name_of(memory));
    const auto start = static_cast<uint64_t>(byte - here.base);
    if (bytes > here.size - start)
        fail(where, "%s: the destination ends at byte %llu of %s, which has %u", operation, printable(start + bytes),
             name_of(memory), here.size);
    return partner.memory[static_cast<int>(memory)].base + start;
}

// Where `bytes` bytes go that a cube core stores at `own` in the unified buffer of vector core `which`.
template <class T>
inline T* in_vector_core(const char* operation, T* own, uint64_t bytes, uint32_t which, Where where) {
    if constexpr (reaches_partners) {
        if (!stores_to_vector_cores()) return own;
        core();  // opened before it reaches others
        const CanopyCore* const partner = find_partner(CANOPY_CORE_VECTOR, which);
        if (partner == nullptr)
            fail(where, "%s: there is no vector core %u; this kernel has %u for each cube core", operation, which,
                 current_block().vector_count);
        return static_cast<T*>(place_at_partner(operation, own, bytes, *partner, Hardware::UB, where));
    }
    return own;
}

// Where `bytes` bytes go that a vector core stores at `own` in L1: to the cube core of its group. The products of a
// Matmul object that this core computes itself read its own L1.
template <class T>
inline T* in_cube_core(const char* operation, T* own, uint64_t bytes, Where where) {
    if constexpr (reaches_partners) {
        if (!on_vector_core() || core_state().cube.multiplies) return own;
        const CanopyCore* const partner = find_partner(CANOPY_CORE_CUBE, 0);
        if (partner == nullptr) return own;  // the kernel runs on vector cores only
        return static_cast<T*>(place_at_partner(operation, own, bytes, *partner, Hardware::L1, where));
    }
    return own;
}

// Where a copy between two memories stores `bytes` bytes; in a unified buffer, it is that of vector core `which`.
template <class T>
inline T* copy_target(const char* operation, const LocalTensor<T>& dst, Hardware from, uint64_t bytes, Where where,
                      uint32_t which = 0) {
    T* const own = dst.GetPhyAddr();
    if constexpr (reaches_partners) {
        const Hardware to = memory_of(dst.position());
        if (to == Hardware::L1 && from == Hardware::UB) return in_cube_core(operation, own, bytes, where);
        if (to == Hardware::UB && from != Hardware::UB) {
            // L1 and L0C are memories of the cube core, which makes this copy.
            if (on_vector_core() && !core_state().cube.multiplies && find_partner(CANOPY_CORE_CUBE, 0) != nullptr)
                fail(where, "%s: from %s to UB; %s belongs to the cube core of the group, which must make this copy",
                     operation, name_of(from), name_of(from));
            return in_vector_core(operation, own, bytes, which, where);
        }
    }
    return own;
}

// The destination of such a copy as an operand, in the checking variant: where it stores.
template <class T>
inline LocalTensor<T> stored_tensor(const char* operation, const LocalTensor<T>& dst, Hardware from, uint64_t bytes,
                                    Where where, uint32_t which = 0) {
    LocalTensor<T> stored = dst;
    if constexpr (is_checking_variant && reaches_partners)
        stored.address_.absAddr = reinterpret_cast<uint8_t*>(copy_target(operation, dst, from, bytes, where, which));
    return stored;
}

}  // namespace canopy::kernel

#endif
