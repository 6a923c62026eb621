// SPDX-License-Identifier: Apache-2.0
// Who used which memory last, for the order of streams. Memory is cut where accesses begin and end; a piece keeps its
// last write and the later accesses that no other one is known to come after. Accesses are added in an order in which
// they may have happened, so one comparison of clocks decides whether two are ordered.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "check/host/stream_clock.h"

namespace canopy::check {

// possible: of a kernel that does not tell what it touches, but has a pointer to the allocation.
enum class UseKind : std::uint8_t { read, write, atomic, possible };

struct MemoryUse {
    std::uint32_t agent = 0;
    UseKind kind = UseKind::read;
    std::uint8_t operation = 0;  // of an atomic access
    bool copy = false;           // by a copy or a fill, not by a kernel
    std::uint64_t time = 0;      // of the agent
    std::uint64_t order = 0;     // of submission, over all agents
    std::uint32_t what = 0;      // describes the command

    bool operator==(const MemoryUse&) const = default;
};

// Whether two uses of one byte need an order.
[[nodiscard]] bool conflict(const MemoryUse& one, const MemoryUse& other) noexcept;

class AccessMap {
public:
    using Conflict = std::function<void(const MemoryUse& before, std::uint64_t begin, std::uint64_t end)>;

    // Adds a use of [begin, end) by an agent with that clock. Tells what it conflicts with and is not ordered behind.
    void add(std::uint64_t begin, std::uint64_t end, const MemoryUse& use, const StreamClock& clock,
             const Conflict& tell);
    // Tells every use of the range that the clock does not cover.
    void unordered(std::uint64_t begin, std::uint64_t end, const StreamClock& clock, const Conflict& tell) const;
    void forget(std::uint64_t begin, std::uint64_t end);
    // Drops what the clock covers: every later access comes after it.
    void prune(const StreamClock& floor);
    void clear() noexcept { pieces_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }

private:
    struct Piece {
        std::uint64_t end = 0;
        std::optional<MemoryUse> write;
        std::vector<MemoryUse> others;  // later than the write

        [[nodiscard]] bool same(const Piece& other) const { return write == other.write && others == other.others; }
    };
    using Pieces = std::map<std::uint64_t, Piece>;  // by begin; they do not overlap

    // The first piece that begins at the address or later, after cutting the one that contains it.
    Pieces::iterator cut(std::uint64_t at);
    static void compare(std::uint64_t begin, const Piece& piece, const MemoryUse& use, const StreamClock& clock,
                        const Conflict& tell);
    static void insert(std::vector<MemoryUse>& others, const MemoryUse& use, const StreamClock& clock);
    void write(std::uint64_t begin, std::uint64_t end, const MemoryUse& use, const StreamClock& clock,
               const Conflict& tell);
    void join_pieces(std::uint64_t begin, std::uint64_t end);

    Pieces pieces_;
};

}  // namespace canopy::check
