// SPDX-License-Identifier: Apache-2.0
#include "device/engine/memory/pieces.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "device/opaque_pointer.h"

namespace canopy {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint32_t every_byte = 0x01010101;

bool has_gaps(const CopyWork& work) noexcept {
    return work.height > 1 && (work.destination_pitch != work.width || work.source_pitch != work.width);
}

void fill_here(char* to, std::uint32_t pattern, std::uint64_t bytes) noexcept {
    if (pattern == (pattern & 0xFF) * every_byte) {
        std::memset(to, static_cast<int>(pattern & 0xFF), bytes);
        return;
    }
    // Whole words through memcpy: the address need not be aligned.
    std::uint64_t at = 0;
    for (; at + sizeof pattern <= bytes; at += sizeof pattern) std::memcpy(to + at, &pattern, sizeof pattern);
    std::memcpy(to + at, &pattern, bytes - at);
}

#if defined(__x86_64__)

constexpr std::uint64_t line = 64;

// Bytes before the first whole cache line.
std::uint64_t before_line(const char* to, std::uint64_t bytes) noexcept {
    return std::min(-reinterpret_cast<std::uintptr_t>(to) % line, bytes);
}

// A loop over the four would keep them in memory: gcc -O2 does not unroll it, and copies took half as long again.
void store_line(__m128i* to, __m128i first, __m128i second, __m128i third, __m128i fourth) noexcept {
    _mm_stream_si128(to, first);
    _mm_stream_si128(to + 1, second);
    _mm_stream_si128(to + 2, third);
    _mm_stream_si128(to + 3, fourth);
}

// Both leave the order of their stores open; end_past_caches closes it.
void copy_past_caches(char* to, const char* from, std::uint64_t bytes) noexcept {
    std::uint64_t at = before_line(to, bytes);
    std::memcpy(to, from, at);
    for (; at + line <= bytes; at += line) {
        const auto* source = reinterpret_cast<const __m128i*>(from + at);
        auto* target = reinterpret_cast<__m128i*>(to + at);
        __builtin_prefetch(from + at + tuning::copy_bytes_ahead);
        const __m128i first = _mm_loadu_si128(source), second = _mm_loadu_si128(source + 1);
        const __m128i third = _mm_loadu_si128(source + 2), fourth = _mm_loadu_si128(source + 3);
        store_line(target, first, second, third, fourth);
    }
    std::memcpy(to + at, from + at, bytes - at);
}

void fill_past_caches(char* to, std::uint32_t pattern, std::uint64_t bytes) noexcept {
    std::uint64_t at = before_line(to, bytes);
    fill_here(to, pattern, at);
    pattern = std::rotr(pattern, static_cast<int>(at % sizeof pattern * 8));
    const __m128i word = _mm_set1_epi32(static_cast<int>(pattern));
    for (; at + line <= bytes; at += line) store_line(reinterpret_cast<__m128i*>(to + at), word, word, word, word);
    fill_here(to + at, pattern, bytes - at);
}

void end_past_caches() noexcept { _mm_sfence(); }

#else

void copy_past_caches(char* to, const char* from, std::uint64_t bytes) noexcept { std::memcpy(to, from, bytes); }
void fill_past_caches(char* to, std::uint32_t pattern, std::uint64_t bytes) noexcept { fill_here(to, pattern, bytes); }
void end_past_caches() noexcept {}

#endif

}  // namespace

bool MemoryPieces::divides(const Command& command) noexcept {
    if (command.opcode != Opcode::copy) return true;
    const CopyWork& work = command.copy;
    const bool gaps = has_gaps(work);
    if (gaps && work.destination_pitch < work.width) return false;
    const std::uint64_t size = work.width * work.height;
    const std::uint64_t to_size = gaps ? work.destination_pitch * (work.height - 1) + work.width : size;
    const std::uint64_t from_size = gaps ? work.source_pitch * (work.height - 1) + work.width : size;
    const std::uintptr_t to = work.destination.value();
    const std::uintptr_t from = work.source.value();
    return to < from ? from - to >= to_size : to - from >= from_size;
}

MemoryPieces::MemoryPieces(const Command& command) noexcept {
    if (command.opcode == Opcode::copy) {
        const CopyWork& work = command.copy;
        to_ = static_cast<char*>(opaque_pointer(work.destination));
        from_ = static_cast<const char*>(opaque_pointer(work.source));
        size_ = work.width * work.height;
        width_ = has_gaps(work) ? work.width : size_;
        to_pitch_ = work.destination_pitch;
        from_pitch_ = work.source_pitch;
    } else {
        const FillWork& work = command.fill;
        to_ = static_cast<char*>(opaque_pointer(work.destination));
        size_ = work.count * work.element_size;
        pattern_ = work.element_size == 1 ? (work.value & 0xFF) * every_byte : work.value;
    }
    // A multiple of 4, so that every piece of a fill begins with a whole element.
    before_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to_) % page / 4 * 4);
    count_ = static_cast<std::uint32_t>((size_ + before_ + tuning::copy_piece - 1) / tuning::copy_piece);
    past_caches_ = size_ >= tuning::copy_past_caches;
}

void MemoryPieces::run(std::uint32_t piece) const noexcept {
    const std::uint64_t begin = piece == 0 ? 0 : piece * tuning::copy_piece - before_;
    const std::uint64_t end = std::min((piece + std::uint64_t{1}) * tuning::copy_piece - before_, size_);
    if (from_)
        copy(begin, end);
    else if (past_caches_)
        fill_past_caches(to_ + begin, pattern_, end - begin);
    else
        fill_here(to_ + begin, pattern_, end - begin);
    if (past_caches_) end_past_caches();
}

// Positions count the bytes of rows without the gaps between them.
void MemoryPieces::copy(std::uint64_t begin, std::uint64_t end) const noexcept {
    std::uint64_t row = begin / width_, column = begin % width_;
    while (begin < end) {
        const std::uint64_t bytes = std::min(width_ - column, end - begin);
        char* const to = to_ + row * to_pitch_ + column;
        const char* const from = from_ + row * from_pitch_ + column;
        if (past_caches_ && bytes >= page)
            copy_past_caches(to, from, bytes);
        else
            std::memcpy(to, from, bytes);
        begin += bytes;
        column = 0;
        ++row;
    }
}

}  // namespace canopy
