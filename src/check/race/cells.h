// SPDX-License-Identifier: Apache-2.0
// Who wrote and who read each byte of one local memory last. Four numbers for each block of 32 bytes; blocks that are
// touched in part have four for each byte, in a side table. Allocated when first used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace canopy::check {

// An instruction as cells keep it: 27 bits of its number, and five of the core in the group and the pipe. 0: none.
using CellId = std::uint32_t;
constexpr unsigned cell_agents = 32;
constexpr std::uint64_t cell_numbers = (std::uint64_t{1} << 27) - 2;
constexpr CellId always_complete = ~CellId{0};

// An access to check. Earlier instructions up to a limit are complete.
struct CellAccess {
    CellId id = 0;
    unsigned slot = 0;  // of its pipe, for reads
    std::array<CellId, cell_agents> writes{}, reads{};
};

// The bytes of an access that an earlier one conflicts with.
struct CellHazards {
    struct Hazard {
        CellId earlier;
        bool earlier_wrote;
        std::uint64_t begin, end, bytes;
    };
    std::array<Hazard, 8> found;  // the first `count` of them
    unsigned count = 0;

    void add(CellId earlier, bool earlier_wrote, std::uint64_t begin, std::uint64_t end);
};

class Cells {
public:
    explicit Cells(std::uint64_t bytes = 0) : bytes_(bytes) {}

    // The bytes from `begin` to `end`; what is outside of the memory is left out.
    void read(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards);
    void write(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards);
    void clear();

private:
    struct alignas(16) Cell {
        CellId write = 0;
        std::array<CellId, 3> reads{};
    };
    using Split = std::array<Cell, 32>;
    static constexpr CellId split_mark = ~CellId{0};  // then reads[0] is the place in the side table

    template <bool writes>
    void touch(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards);
    template <bool writes>
    void touch_blocks(std::uint64_t first, std::uint64_t last, const CellAccess& access, CellHazards& hazards);
    template <bool writes>
    void touch_bytes(std::uint64_t block, std::uint64_t begin, std::uint64_t end, const CellAccess& access,
                     CellHazards& hazards);
    template <bool writes>
    static Cell* run(Cell* first, Cell* last, const CellAccess& access, CellHazards& hazards, std::uint64_t begin,
                     std::uint64_t width);
    template <bool writes>
    static void compare(const Cell& cell, const CellAccess& access, CellHazards& hazards, std::uint64_t begin,
                        std::uint64_t end);
    Split& split(Cell& cell);
    void join(Cell& cell);
    void allocate();

    std::uint64_t bytes_;
    std::unique_ptr<Cell[], void (*)(void*)> cells_{nullptr, nullptr};
    std::vector<std::unique_ptr<Split>> splits_;
    std::vector<std::uint32_t> free_splits_;
};

}  // namespace canopy::check
