// SPDX-License-Identifier: Apache-2.0
// The bytes that an access touches.
#pragma once

#include <canopy/kernel_check.h>

#include <algorithm>
#include <cstdint>

namespace canopy::check {

// From the first byte that a walk may touch to the one behind the last.
struct Extent {
    std::uint64_t begin = 0, end = 0;
};

namespace walk {

inline std::uint64_t address_of(const CanopyCheckAccess& access) {
    return reinterpret_cast<std::uint64_t>(access.address);
}

// Steps of 0 touch the same bytes again.
inline std::uint32_t distinct_pieces(const CanopyCheckAccess& access) {
    return access.step == 0 && access.lanes == nullptr ? std::min(access.pieces, 1U) : access.pieces;
}
inline std::uint32_t distinct_repeats(const CanopyCheckAccess& access) {
    return access.repeat_step == 0 ? std::min(access.repeats, 1U) : access.repeats;
}

// Joins pieces that touch before they are visited.
template <class Visit>
class Joiner {
public:
    explicit Joiner(Visit& visit) : visit_(visit) {}
    Joiner(const Joiner&) = delete;
    Joiner& operator=(const Joiner&) = delete;
    ~Joiner() { flush(); }

    void add(std::uint64_t begin, std::uint64_t bytes) {
        if (begin == end_) {
            end_ += bytes;
            return;
        }
        flush();
        begin_ = begin;
        end_ = begin + bytes;
    }

private:
    void flush() {
        if (end_ != begin_) visit_(begin_, end_ - begin_);
    }

    Visit& visit_;
    std::uint64_t begin_ = 0, end_ = 0;
};

template <class Visit>
void each_lane(const CanopyCheckAccess& access, Joiner<Visit>& joiner) {
    const std::uint64_t element =
        access.element == 0 ? access.bytes : std::min<std::uint64_t>(access.element, access.bytes);
    const std::uint64_t in_piece = access.bytes / element;
    const std::uint64_t per_bit = std::max<std::uint64_t>(access.lanes_per_bit, 1);
    const std::uint64_t elements = std::min<std::uint64_t>(in_piece * access.pieces, 128 * per_bit);
    for (std::uint32_t repeat = 0; repeat < distinct_repeats(access); ++repeat) {
        const std::uint64_t base = address_of(access) + repeat * access.repeat_step;
        for (std::uint64_t i = 0; i < elements;) {
            // Elements of one piece under one bit.
            const std::uint64_t bit = i / per_bit, piece = i / in_piece;
            const std::uint64_t next = std::min({(bit + 1) * per_bit, (piece + 1) * in_piece, elements});
            if ((access.lanes[bit / 64] >> (bit % 64) & 1) != 0)
                joiner.add(base + piece * access.step + (i - piece * in_piece) * element, (next - i) * element);
            i = next;
        }
    }
}

}  // namespace walk

// All bytes of the walk's pieces and those between them; lanes are not looked at.
inline Extent extent_of(const CanopyCheckAccess& access) {
    if (access.bytes == 0 || access.pieces == 0 || access.repeats == 0) return {};
    const auto pieces = static_cast<std::int64_t>(access.step * (access.pieces - 1));
    const auto repeats = static_cast<std::int64_t>(access.repeat_step * (access.repeats - 1));
    const std::int64_t first = std::min<std::int64_t>(pieces, 0) + std::min<std::int64_t>(repeats, 0);
    const std::int64_t last = std::max<std::int64_t>(pieces, 0) + std::max<std::int64_t>(repeats, 0);
    const std::uint64_t address = walk::address_of(access);
    return {address + static_cast<std::uint64_t>(first), address + static_cast<std::uint64_t>(last) + access.bytes};
}

// visit(address, bytes) for the bytes touched, in the order of the walk. Pieces that touch are one.
template <class Visit>
void each_piece(const CanopyCheckAccess& access, Visit visit) {
    if (access.bytes == 0 || access.pieces == 0 || access.repeats == 0) return;
    walk::Joiner<Visit> joiner(visit);
    if (access.lanes != nullptr) {
        walk::each_lane(access, joiner);
        return;
    }
    std::uint64_t bytes = access.bytes;
    std::uint32_t pieces = walk::distinct_pieces(access), repeats = walk::distinct_repeats(access);
    if (pieces > 1 && access.step == bytes) {
        bytes *= pieces;
        pieces = 1;
    }
    if (repeats > 1 && pieces == 1 && access.repeat_step == bytes) {
        bytes *= repeats;
        repeats = 1;
    }
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
        const std::uint64_t base = walk::address_of(access) + repeat * access.repeat_step;
        for (std::uint32_t piece = 0; piece < pieces; ++piece) joiner.add(base + piece * access.step, bytes);
    }
}

// The walk without what is behind `end`, in up to two parts; returns how many there are.
inline std::uint32_t cut(const CanopyCheckAccess& access, std::uint64_t end, CanopyCheckAccess (&parts)[2]) {
    const std::uint64_t begin = walk::address_of(access);
    parts[0] = parts[1] = access;
    if (access.repeats != 1 || access.lanes != nullptr || begin >= end || extent_of(access).end <= end) return 1;
    if (access.pieces == 1) {
        parts[0].bytes = end - begin;
        return 1;
    }
    if (access.step == 0 || begin + access.step * (access.pieces - 1) >= end) return 1;
    // Only the last piece goes too far.
    const std::uint64_t last = begin + access.step * (access.pieces - 1);
    --parts[0].pieces;
    parts[1].address = static_cast<const unsigned char*>(access.address) + (last - begin);
    parts[1].pieces = 1;
    parts[1].bytes = end - last;
    return 2;
}

// How many bytes the walk touches; where its pieces overlap they count more than once.
inline std::uint64_t bytes_of(const CanopyCheckAccess& access) {
    if (access.lanes == nullptr) return access.bytes * walk::distinct_pieces(access) * walk::distinct_repeats(access);
    std::uint64_t sum = 0;
    each_piece(access, [&](std::uint64_t, std::uint64_t bytes) { sum += bytes; });
    return sum;
}

}  // namespace canopy::check
