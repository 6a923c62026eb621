// SPDX-License-Identifier: Apache-2.0
// Copies from global memory into a core. If a kernel walks through memory tile by tile, the next tile is prefetched:
// operations on whole tiles prefetch it line by line while they compute; if there are too few such operations, the copy
// of a tile prefetches the next one.
#ifndef CANOPY_KERNEL_INLET_H
#define CANOPY_KERNEL_INLET_H

#include "canopy_kernel/core/core.h"
#include "canopy_kernel/target/trace.h"

namespace canopy::kernel {

typedef uint64_t CacheLineBytes __attribute__((ext_vector_type(8), may_alias));

// Shorter copies rely on the processor's prefetcher; longer ones need no prefetching.
inline constexpr uint64_t shortest_tile = 2048, longest_tile = 32768;

// Smaller operations do not prefetch. Others prefetch a sixth of the bytes they work on, so that the reads are in
// flight while they compute; a processor drops prefetches if there are too many at once.
inline constexpr uint64_t shortest_asking = 8192, asking_share = 6, most_budget = 8 * longest_tile;

// Copies four parts of a tile in parallel, which keeps more memory reads in flight than one part after another. Loads
// come before stores: if the parts are whole pages, their addresses differ only in bits that the processor ignores when
// it compares a load with earlier stores.
template <bool ask_ahead>
__attribute__((noinline)) void copy_tile(unsigned char* to, const unsigned char* from, uint64_t bytes) {
    const uint64_t part = bytes / 256 * 64;
    const auto load = [&](uint64_t at) {
        if (ask_ahead) __builtin_prefetch(from + bytes + at, 0, 2);
        CacheLineBytes line;
        __builtin_memcpy(&line, from + at, sizeof line);
        return line;
    };
    const auto store = [&](uint64_t at, CacheLineBytes line) { __builtin_memcpy(to + at, &line, sizeof line); };
    for (uint64_t i = 0; i < part; i += 64) {
        const CacheLineBytes first = load(i), second = load(part + i);
        const CacheLineBytes third = load(2 * part + i), fourth = load(3 * part + i);
        __asm__ volatile("" ::: "memory");
        store(i, first);
        store(part + i, second);
        store(2 * part + i, third);
        store(3 * part + i, fourth);
    }
    __builtin_memcpy(to + 4 * part, from + 4 * part, bytes - 4 * part);
}

// Prefetches the next `bytes` bytes of the walks.
inline void ask(CoreState::Inlets& inlets, uint64_t bytes) {
    while (inlets.wanting != 0 && bytes >= 64) {
        const auto index = static_cast<uint32_t>(__builtin_ctz(inlets.wanting));
        auto& walk = inlets.walk[index];
        const unsigned char* end = walk.asked + smaller(bytes, static_cast<uint64_t>(walk.wanted - walk.asked));
        bytes -= static_cast<uint64_t>(end - walk.asked);
        for (; walk.asked < end; walk.asked += 64) __builtin_prefetch(walk.asked, 0, 2);
        if (walk.asked < walk.wanted) break;
        inlets.wanting &= ~(1u << index);
    }
}

__attribute__((noinline)) inline void ask_for_tiles(uint64_t bytes) {
    auto& inlets = core_state().inlets;
    inlets.budget = smaller(inlets.budget + bytes, most_budget);
    ask(inlets, bytes);
}

// Called by every operation before it works on `bytes` contiguous bytes.
inline void ask_ahead(uint64_t bytes) {
    if (bytes >= shortest_asking) ask_for_tiles(bytes / asking_share);
}

// The walk that a copy from this address continues; if there is none, starts a new walk and sets `found` to false.
inline CoreState::Inlets::Walk& walk_at(CoreState::Inlets& inlets, const unsigned char* from, bool& found) {
    for (auto& walk : inlets.walk)
        if (walk.next == from) {
            found = true;
            return walk;
        }
    found = false;
    return inlets.walk[inlets.turn++ % CoreState::Inlets::most];
}

__attribute__((noinline)) inline void copy_walking(unsigned char* to, const unsigned char* from, uint64_t bytes) {
    auto& inlets = core_state().inlets;
    bool found;
    auto& walk = walk_at(inlets, from, found);
    const uint32_t bit = 1u << (&walk - inlets.walk);
    const bool cached = found && walk.asked >= from + bytes;
    walk.next = walk.asked = walk.wanted = from + bytes;
    inlets.wanting &= ~bit;
    if (found) {
        walk.wanted += bytes;
        inlets.wanting |= bit;
        // The range stays wanted even if this copy prefetches it: the processor drops some of the requests.
        if (inlets.budget < bytes) {
            inlets.budget = 0;
            return copy_tile<true>(to, from, bytes);
        }
        inlets.budget -= bytes;
    }
    if (cached)
        __builtin_memcpy(to, from, bytes);
    else
        copy_tile<false>(to, from, bytes);
}

inline void copy_in(void* to, const void* from, uint64_t bytes) {
    if constexpr (is_tracing_variant) return trace_copy(to, from, bytes);
    if (bytes >= shortest_tile && bytes <= longest_tile)
        return copy_walking(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), bytes);
    __builtin_memcpy(to, from, bytes);
}

// Copies a row, short ones without a call: whole blocks, and the last block over the end of the one before it.
inline void copy_short(void* to, const void* from, uint64_t bytes) {
    constexpr uint64_t block = 32, longest = 256;
    if (bytes < block || bytes > longest) {
        __builtin_memcpy(to, from, bytes);
        return;
    }
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    for (uint64_t at = 0; at + block < bytes; at += block) __builtin_memcpy(target + at, source + at, block);
    __builtin_memcpy(target + bytes - block, source + bytes - block, block);
}

// Copies short rows into a core, and copies inside it. The ranges may overlap.
inline void move_bytes(void* to, const void* from, uint64_t bytes) {
    if constexpr (is_tracing_variant) return trace_copy(to, from, bytes);
    __builtin_memmove(to, from, bytes);
}

}  // namespace canopy::kernel

#endif
