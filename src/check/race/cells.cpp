// SPDX-License-Identifier: Apache-2.0
#include "check/race/cells.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace canopy::check {

namespace {

constexpr std::uint64_t block = 32;

template <class Cell>
bool same(const Cell& a, const Cell& b) {
    std::array<std::uint64_t, 2> x, y;
    std::memcpy(x.data(), &a, sizeof a);
    std::memcpy(y.data(), &b, sizeof b);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

// Four cells at a time, which is where most of the time goes.
using Words = std::uint64_t __attribute__((vector_size(16)));

template <class Cell>
Words words_of(const Cell& cell) {
    Words words;
    std::memcpy(&words, &cell, sizeof words);
    return words;
}

template <class Cell>
bool four_are(const Cell* cells, Words old) {
    const Words differ = (words_of(cells[0]) ^ old) | (words_of(cells[1]) ^ old) | (words_of(cells[2]) ^ old) |
                         (words_of(cells[3]) ^ old);
    return (differ[0] | differ[1]) == 0;
}

}  // namespace

void CellHazards::add(CellId earlier, bool earlier_wrote, std::uint64_t begin, std::uint64_t end) {
    for (unsigned i = 0; i < count; ++i) {
        Hazard& known = found[i];
        if (known.earlier != earlier || known.earlier_wrote != earlier_wrote) continue;
        known.begin = std::min(known.begin, begin);
        known.end = std::max(known.end, end);
        known.bytes += end - begin;
        return;
    }
    if (count < found.size()) found[count++] = {earlier, earlier_wrote, begin, end, end - begin};
}

void Cells::allocate() {
    auto* memory = static_cast<Cell*>(std::calloc((bytes_ + block - 1) / block, sizeof(Cell)));
    if (memory == nullptr) throw std::bad_alloc();
    cells_ = {memory, &std::free};
}

void Cells::clear() {
    cells_.reset();
    splits_.clear();
    free_splits_.clear();
}

void Cells::read(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards) {
    touch<false>(begin, end, access, hazards);
}

void Cells::write(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards) {
    touch<true>(begin, end, access, hazards);
}

template <bool writes>
void Cells::touch(std::uint64_t begin, std::uint64_t end, const CellAccess& access, CellHazards& hazards) {
    end = std::min(end, bytes_);
    if (begin >= end) return;
    if (cells_ == nullptr) allocate();
    const std::uint64_t first = (begin + block - 1) / block, last = end / block;
    if (first > last) {
        touch_bytes<writes>(last, begin % block, end % block, access, hazards);
        return;
    }
    if (begin % block != 0) touch_bytes<writes>(first - 1, begin % block, block, access, hazards);
    if (first < last) touch_blocks<writes>(first, last, access, hazards);
    if (end % block != 0) touch_bytes<writes>(last, 0, end % block, access, hazards);
}

// Cells are mostly equal to the one before: those are compared as a whole, and get the same new value.
template <bool writes>
void Cells::touch_blocks(std::uint64_t first, std::uint64_t last, const CellAccess& access, CellHazards& hazards) {
    Cell* const end = cells_.get() + last;
    for (Cell* cell = cells_.get() + first; cell != end;) {
        const auto at = static_cast<std::uint64_t>(cell - cells_.get());
        if (cell->write != split_mark) {
            cell = run<writes>(cell, end, access, hazards, at * block, block);
            continue;
        }
        touch_bytes<writes>(at, 0, block, access, hazards);
        if (writes) join(*cell);
        ++cell;
    }
}

template <bool writes>
void Cells::touch_bytes(std::uint64_t at, std::uint64_t begin, std::uint64_t end, const CellAccess& access,
                        CellHazards& hazards) {
    Split& bytes = split(cells_[at]);
    for (Cell* byte = &bytes[begin]; byte != bytes.data() + end;) {
        const auto offset = static_cast<std::uint64_t>(byte - bytes.data());
        byte = run<writes>(byte, bytes.data() + end, access, hazards, at * block + offset, 1);
    }
}

// Takes cells that are equal to the first one.
template <bool writes>
Cells::Cell* Cells::run(Cell* first, Cell* last, const CellAccess& access, CellHazards& hazards, std::uint64_t begin,
                        std::uint64_t width) {
    const Cell old = *first;
    Cell next = old;
    if (writes) {
        next = {access.id, {}};
    } else {
        next.reads[access.slot] = access.id;
    }
    Cell* cell = first;
    *cell++ = next;
    const Words old_words = words_of(old);
    for (; last - cell >= 4 && four_are(cell, old_words); cell += 4) std::fill_n(cell, 4, next);
    while (cell != last && same(*cell, old)) *cell++ = next;
    compare<writes>(old, access, hazards, begin, begin + static_cast<std::uint64_t>(cell - first) * width);
    return cell;
}

template <bool writes>
void Cells::compare(const Cell& cell, const CellAccess& access, CellHazards& hazards, std::uint64_t begin,
                    std::uint64_t end) {
    bool read_hazard = false;
    if (writes) {
        for (const CellId read : cell.reads) {
            if (read <= access.reads[read % cell_agents] || read == access.id) continue;
            hazards.add(read, false, begin, end);
            read_hazard = true;
        }
    }
    // What orders this access behind the read orders it behind the write before the read, too.
    if (!read_hazard && cell.write > access.writes[cell.write % cell_agents] && cell.write != access.id)
        hazards.add(cell.write, true, begin, end);
}

Cells::Split& Cells::split(Cell& cell) {
    if (cell.write == split_mark) return *splits_[cell.reads[0]];
    std::uint32_t place = 0;
    if (free_splits_.empty()) {
        place = static_cast<std::uint32_t>(splits_.size());
        splits_.push_back(std::make_unique<Split>());
    } else {
        place = free_splits_.back();
        free_splits_.pop_back();
    }
    splits_[place]->fill(cell);
    cell = {split_mark, {place, 0, 0}};
    return *splits_[place];
}

// After a write to all bytes of a block.
void Cells::join(Cell& cell) {
    const std::uint32_t place = cell.reads[0];
    cell = (*splits_[place])[0];
    free_splits_.push_back(place);
}

}  // namespace canopy::check
