// SPDX-License-Identifier: Apache-2.0
#include "check/host/access_map.h"

#include <algorithm>
#include <iterator>

namespace canopy::check {
namespace {

bool covered(const MemoryUse& use, const StreamClock& clock) noexcept { return use.time <= clock.of(use.agent); }

}  // namespace

bool conflict(const MemoryUse& one, const MemoryUse& other) noexcept {
    if (one.kind == UseKind::possible || other.kind == UseKind::possible) {
        const MemoryUse& known = one.kind == UseKind::possible ? other : one;
        return known.kind == UseKind::write && known.copy;
    }
    if (one.kind == UseKind::read && other.kind == UseKind::read) return false;
    return one.kind != UseKind::atomic || other.kind != UseKind::atomic || one.operation != other.operation;
}

AccessMap::Pieces::iterator AccessMap::cut(std::uint64_t at) {
    auto after = pieces_.lower_bound(at);
    if (after == pieces_.begin()) return after;
    const auto before = std::prev(after);
    if (before->second.end <= at) return after;
    Piece upper = before->second;
    before->second.end = at;
    return pieces_.emplace_hint(after, at, std::move(upper));
}

void AccessMap::compare(std::uint64_t begin, const Piece& piece, const MemoryUse& use, const StreamClock& clock,
                        const Conflict& tell) {
    if (piece.write && !covered(*piece.write, clock) && conflict(*piece.write, use))
        tell(*piece.write, begin, piece.end);
    for (const MemoryUse& other : piece.others)
        if (!covered(other, clock) && conflict(other, use)) tell(other, begin, piece.end);
}

// A use that the new one is known to come after tells no more than the new one, if nothing conflicts with it alone.
void AccessMap::insert(std::vector<MemoryUse>& others, const MemoryUse& use, const StreamClock& clock) {
    std::erase_if(others, [&](const MemoryUse& other) {
        return other.kind == use.kind && other.operation == use.operation && covered(other, clock);
    });
    others.push_back(use);
}

void AccessMap::write(std::uint64_t begin, std::uint64_t end, const MemoryUse& use, const StreamClock& clock,
                      const Conflict& tell) {
    const auto first = cut(begin);
    const auto last = cut(end);
    for (auto piece = first; piece != last; ++piece) compare(piece->first, piece->second, use, clock, tell);
    if (first != last && first->first == begin) {
        first->second.end = end;
        first->second.write = use;
        first->second.others.clear();
        pieces_.erase(std::next(first), last);
        return;
    }
    pieces_.erase(first, last);
    pieces_.emplace_hint(last, begin, Piece{end, use, {}});
}

void AccessMap::add(std::uint64_t begin, std::uint64_t end, const MemoryUse& use, const StreamClock& clock,
                    const Conflict& tell) {
    if (begin >= end) return;
    if (use.kind == UseKind::write) {
        write(begin, end, use, clock, tell);
        return join_pieces(begin, end);
    }
    cut(begin);
    cut(end);
    auto piece = pieces_.lower_bound(begin);
    for (std::uint64_t at = begin; at < end;) {
        if (piece == pieces_.end() || piece->first > at) {
            const std::uint64_t gap = piece == pieces_.end() ? end : std::min(end, piece->first);
            piece = pieces_.emplace_hint(piece, at, Piece{gap, std::nullopt, {}});
        } else {
            compare(at, piece->second, use, clock, tell);
        }
        insert(piece->second.others, use, clock);
        at = piece->second.end;
        ++piece;
    }
    join_pieces(begin, end);
}

void AccessMap::join_pieces(std::uint64_t begin, std::uint64_t end) {
    auto piece = pieces_.lower_bound(begin);
    if (piece != pieces_.begin()) --piece;
    while (piece != pieces_.end() && piece->first <= end) {
        const auto next = std::next(piece);
        if (next != pieces_.end() && next->first == piece->second.end && next->second.same(piece->second)) {
            piece->second.end = next->second.end;
            pieces_.erase(next);
        } else {
            piece = next;
        }
    }
}

void AccessMap::unordered(std::uint64_t begin, std::uint64_t end, const StreamClock& clock,
                          const Conflict& tell) const {
    auto piece = pieces_.upper_bound(begin);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
        const std::uint64_t from = std::max(begin, piece->first), to = std::min(end, piece->second.end);
        if (from >= to) continue;
        if (piece->second.write && !covered(*piece->second.write, clock)) tell(*piece->second.write, from, to);
        for (const MemoryUse& other : piece->second.others)
            if (!covered(other, clock)) tell(other, from, to);
    }
}

void AccessMap::forget(std::uint64_t begin, std::uint64_t end) {
    cut(begin);
    const auto last = cut(end);
    pieces_.erase(pieces_.lower_bound(begin), last);
}

void AccessMap::prune(const StreamClock& floor) {
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
        Piece& here = piece->second;
        if (here.write && covered(*here.write, floor)) here.write.reset();
        std::erase_if(here.others, [&](const MemoryUse& use) { return covered(use, floor); });
        piece = here.write || !here.others.empty() ? std::next(piece) : pieces_.erase(piece);
    }
}

}  // namespace canopy::check
