// SPDX-License-Identifier: Apache-2.0
// The way into a core: bytes of global memory into one of its memories. A kernel that walks through memory tile by tile
// finds its next tile in the cache, because the lines behind a tile are asked for while the tile itself is copied.
#ifndef CANOPY_KERNEL_INLET_H
#define CANOPY_KERNEL_INLET_H

#include "canopy_kernel/core.h"

namespace canopy::kernel {

typedef uint64_t CacheLineBytes __attribute__((ext_vector_type(8), may_alias));

// Shorter copies leave it to the processor to guess what comes next; longer ones need nobody to guess.
inline constexpr uint64_t shortest_tile = 2048, longest_tile = 32768;

// Four parts of a tile at once: that keeps more reads of memory under way than one part after the other.
template <bool ask_ahead>
__attribute__((noinline)) void copy_tile(unsigned char* to, const unsigned char* from, uint64_t bytes) {
    const uint64_t part = bytes / 256 * 64;
    for (uint64_t i = 0; i < part; i += 64) {
        for (int way = 0; way < 4; ++way) {
            const uint64_t at = static_cast<uint64_t>(way) * part + i;
            if (ask_ahead) __builtin_prefetch(from + bytes + at, 0, 2);
            CacheLineBytes line;
            __builtin_memcpy(&line, from + at, sizeof line);
            __builtin_memcpy(to + at, &line, sizeof line);
        }
    }
    __builtin_memcpy(to + 4 * part, from + 4 * part, bytes - 4 * part);
}

// True when an earlier copy ended where this one starts; either way, this one's end is remembered.
inline bool continues(CoreState::Inlets& inlets, const unsigned char* from, uint64_t bytes) {
    for (const unsigned char*& next : inlets.next) {
        if (next != from) continue;
        next = from + bytes;
        return true;
    }
    inlets.next[inlets.turn++ % CoreState::Inlets::most] = from + bytes;
    return false;
}

inline void copy_in(void* to, const void* from, uint64_t bytes) {
    if (bytes >= shortest_tile && bytes <= longest_tile) {
        const auto* source = static_cast<const unsigned char*>(from);
        auto* target = static_cast<unsigned char*>(to);
        return continues(core_state().inlets, source, bytes) ? copy_tile<true>(target, source, bytes)
                                                             : copy_tile<false>(target, source, bytes);
    }
    __builtin_memcpy(to, from, bytes);
}

}  // namespace canopy::kernel

#endif
