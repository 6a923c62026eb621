// SPDX-License-Identifier: Apache-2.0
#include "check/memory/init.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "check/model/walk.h"

namespace canopy::check {

namespace {

constexpr std::uint64_t whole_block = 32;
// Products read whole fractals, of which a part is beyond the matrix; one without any byte is not.
constexpr std::uint64_t operand_fractal = 512, sum_fractal = 1024;

bool reads_operand(const CanopyCheckAccess& access) { return access.kind == CANOPY_CHECK_READ; }
bool writes_operand(const CanopyCheckAccess& access) { return (access.kind & CANOPY_CHECK_WRITE) != 0; }

bool names_places(const CanopyCheckAccess& access) {
    if (access.operand == nullptr) return false;
    const std::string_view name = access.operand;
    for (const char* word : {"ffset", "ndex", "ndices"})
        if (name.find(word) != std::string_view::npos) return true;
    return false;
}

bool has_divided_operand(const CanopyCheckOperation& operation) {
    for (std::uint32_t i = 1; i < operation.access_count; ++i) {
        const CanopyCheckAccess& before = operation.accesses[i - 1];
        const CanopyCheckAccess& access = operation.accesses[i];
        if (access.kind == before.kind && access.operand == before.operand) return true;
    }
    return false;
}

std::uint64_t element_of(const CanopyCheckAccess& access) {
    return access.element == 0 || access.element > access.bytes ? access.bytes : access.element;
}

// Rows of an access are its pieces, repeat by repeat; elements are counted through them, whatever the lanes.
struct OperandRows {
    explicit OperandRows(const CanopyCheckAccess& walked)
        : access(walked),
          element(element_of(walked)),
          in_row(walked.bytes / element),
          count(std::uint64_t{walked.pieces} * walked.repeats) {}

    [[nodiscard]] std::uint64_t elements() const { return in_row * count; }
    [[nodiscard]] std::uint64_t address_of(std::uint64_t row) const {
        return reinterpret_cast<std::uint64_t>(access.address) + row / access.pieces * access.repeat_step +
               row % access.pieces * access.step;
    }
    [[nodiscard]] bool selected(std::uint64_t item) const {
        if (access.lanes == nullptr) return true;
        const std::uint64_t bit = item % (in_row * access.pieces) / std::max<std::uint64_t>(access.lanes_per_bit, 1);
        return bit < 128 && (access.lanes[bit / 64] >> (bit % 64) & 1) != 0;
    }

    const CanopyCheckAccess& access;
    std::uint64_t element, in_row, count;
};

}  // namespace

Init::Init(Core& core, Allocations& allocations)
    : core_(core), allocations_(allocations), global_(core.launch.facts.written) {
    for (unsigned memory = CANOPY_MEMORY_UB; memory < CANOPY_MEMORY_COUNT; ++memory) {
        const CoreFacts::Memory& place = core.facts.memory[memory];
        local_[memory] = {place.base, ByteBits(place.size), ByteBits(place.size)};
    }
    core.init = this;
}

void Init::operation(const Told& told) {
    switch (told.operation.flow) {
        case CANOPY_CHECK_USE:
            use(told);
            break;
        case CANOPY_CHECK_CARRY:
            carry(told);
            break;
        default:
            write_all(told);
    }
}

void Init::write_all(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& access = operation.accesses[i];
        if (!writes_operand(access)) continue;
        check_atomic(told, access);
        write(access);
    }
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

// Null: no local memory, or that of a core that is not checked.
Init::LocalBytes* Init::local(std::uint8_t memory, std::uint64_t address) {
    LocalBytes& own = local_[memory % CANOPY_MEMORY_COUNT];
    if (address - own.base < own.written.size()) return &own;
    const auto place = core_.locate(address);
    if (!place || place->core->init == nullptr) return nullptr;
    return &place->core->init->local_[static_cast<std::size_t>(place->memory)];
}

// visit(address, bytes, stale) for what nobody has written in [begin, begin + bytes).
template <class Visit>
void Init::each_unwritten(std::uint8_t memory, std::uint64_t begin, std::uint64_t bytes, Visit visit) {
    if (memory == CANOPY_MEMORY_GLOBAL) {
        if (global_ == nullptr) return;
        const std::uint64_t end = begin + bytes;
        for (std::uint64_t at = global_->find_unwritten(begin, end); at < end;) {
            const std::uint64_t next = global_->find_written(at, end);
            visit(at, next - at, false);
            at = global_->find_unwritten(next, end);
        }
        return;
    }
    LocalBytes* const place = local(memory, begin);
    if (place == nullptr) return;
    const std::uint64_t first = begin - place->base, end = std::min(first + bytes, place->written.size());
    for (std::uint64_t at = place->written.find_clear(first, end); at < end;) {
        const std::uint64_t next = place->written.find_set(at, end);
        visit(place->base + at, next - at, !place->stale.empty() && place->stale.all(at, next - at));
        at = place->written.find_clear(next, end);
    }
}

bool Init::is_written(const CanopyCheckAccess& access) {
    bool written = true;
    if (access.memory == CANOPY_MEMORY_GLOBAL) {
        if (global_ == nullptr) return true;
        each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) {
            written = written && global_->find_unwritten(address, address + bytes) == address + bytes;
        });
        return written;
    }
    LocalBytes* const place = local(access.memory, walk::address_of(access));
    if (place == nullptr) return true;
    each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) {
        written = written && place->written.all(address - place->base, bytes);
    });
    return written;
}

void Init::write(const CanopyCheckAccess& access) {
    if (access.memory == CANOPY_MEMORY_GLOBAL) {
        if (global_ == nullptr) return;
        each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) { global_->written(address, bytes); });
        return;
    }
    LocalBytes* const place = local(access.memory, walk::address_of(access));
    if (place == nullptr) return;
    each_piece(access,
               [&](std::uint64_t address, std::uint64_t bytes) { place->written.set(address - place->base, bytes); });
}

void Init::mark(std::uint8_t memory, std::uint64_t begin, std::uint64_t bytes, bool stale) {
    if (memory == CANOPY_MEMORY_GLOBAL) {
        if (global_ != nullptr) global_->unwritten(begin, bytes);
        return;
    }
    LocalBytes* const place = local(memory, begin);
    if (place == nullptr) return;
    place->written.clear(begin - place->base, bytes);
    if (stale)
        place->stale.set(begin - place->base, bytes);
    else
        place->stale.clear(begin - place->base, bytes);
}

void Init::taken(std::uint64_t begin, std::uint64_t end) {
    const auto place = core_.locate(begin);
    if (!place || place->core != &core_) return;
    LocalBytes& bytes = local_[static_cast<std::size_t>(place->memory)];
    bytes.stale.add(bytes.written, begin - bytes.base, end - begin);
    bytes.written.clear(begin - bytes.base, end - begin);
}

// What nobody has written of an operand; only aligned parts of `unit` bytes without a written byte count.
Init::Found Init::find(const CanopyCheckAccess& access, std::uint64_t unit) {
    Found found;
    each_piece(access, [&](std::uint64_t piece, std::uint64_t piece_bytes) {
        each_unwritten(access.memory, piece, piece_bytes, [&](std::uint64_t begin, std::uint64_t bytes, bool stale) {
            const std::uint64_t first = (begin + unit - 1) / unit * unit, end = (begin + bytes) / unit * unit;
            if (first >= end) return;
            if (found.bytes == 0) found.first = first;
            found.bytes += end - first;
            found.stale = found.stale && stale;
        });
    });
    return found;
}

// ---- use -----------------------------------------------------------------------------------------------------------

void Init::use(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    const bool product = operation.pipe == CANOPY_CHECK_M || operation.m != 0;
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& access = operation.accesses[i];
        if ((access.kind & CANOPY_CHECK_READ) == 0) continue;
        // Work space is read after it was written, but sums are what is there.
        const bool sums = product && access.memory == CANOPY_MEMORY_L0C;
        if (writes_operand(access) && (!sums || (operation.flags & CANOPY_CHECK_ACCUMULATES) == 0)) continue;
        if (is_written(access)) continue;
        std::uint64_t unit = 1;
        if (sums)
            unit = sum_fractal;
        else if (product && (access.memory == CANOPY_MEMORY_L0A || access.memory == CANOPY_MEMORY_L0B))
            unit = operand_fractal;
        else if (product)
            unit = whole_block;
        const Found found = find(access, unit);
        if (found.bytes == 0) continue;
        report(told, access, found,
               operation.pipe == CANOPY_CHECK_S ? "init.scalar"
               : product                        ? "init.product"
               : names_places(access)           ? "init.index"
                                                : "init.reduce");
    }
    write_all(told);
}

void Init::check_atomic(const Told& told, const CanopyCheckAccess& to) {
    if (to.atomic == CANOPY_CHECK_PLAIN || is_written(to)) return;
    const Found found = find(to, 1);
    if (found.bytes != 0) report(told, to, found, "init.atomic");
}

void Init::check_copied_out(const Told& told, const CanopyCheckAccess& from) {
    const Found found = find(from, whole_block);
    if (found.bytes != 0) report(told, from, found, "init.out");
}

// ---- carry ---------------------------------------------------------------------------------------------------------

void Init::carry(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    bool written = true;
    for (std::uint32_t i = 0; i < operation.access_count && written; ++i)
        if (reads_operand(operation.accesses[i])) written = is_written(operation.accesses[i]);
    if (written) {
        // What is read and written at once, like a sum, is as unwritten as before.
        for (std::uint32_t i = 0; i < operation.access_count; ++i) {
            const CanopyCheckAccess& access = operation.accesses[i];
            if (writes_operand(access)) check_atomic(told, access);
            if (access.kind == CANOPY_CHECK_WRITE || access.atomic != CANOPY_CHECK_PLAIN) write(access);
        }
        return;
    }
    // All that is read is looked at before anything is written: operands may be the same.
    std::vector<Runs> sources(operation.access_count);
    for (std::uint32_t i = 0; i < operation.access_count; ++i)
        if (reads_operand(operation.accesses[i])) sources[i] = runs_of(operation.accesses[i]);
    // Of an operand in several accesses it is not known which elements belong together.
    bool carries = true;
    if (has_divided_operand(operation))
        for (std::uint32_t i = 0; i < operation.access_count; ++i)
            carries = carries && (!reads_operand(operation.accesses[i]) || sources[i].all);
    for (std::uint32_t to = 0; to < operation.access_count; ++to) {
        const CanopyCheckAccess& target = operation.accesses[to];
        if (!writes_operand(target)) continue;
        check_atomic(told, target);
        if (target.kind == CANOPY_CHECK_WRITE || target.atomic != CANOPY_CHECK_PLAIN) write(target);
        for (std::uint32_t from = 0; from < operation.access_count; ++from) {
            const CanopyCheckAccess& source = operation.accesses[from];
            if (sources[from].runs.empty()) continue;
            if (target.memory == CANOPY_MEMORY_GLOBAL && source.memory != CANOPY_MEMORY_GLOBAL)
                check_copied_out(told, source);
            if (!carries) continue;
            apply(sources[from], source, target);
            remember(told, source, target);
        }
    }
}

Init::Runs Init::runs_of(const CanopyCheckAccess& access) {
    const OperandRows rows(access);
    Runs runs;
    std::uint64_t bytes_found = 0, bytes_selected = 0;
    const auto add = [&](std::uint64_t first, std::uint64_t count, bool stale) {
        bytes_found += count;
        if (!runs.runs.empty() && runs.runs.back().first + runs.runs.back().count == first &&
            runs.runs.back().stale == stale)
            runs.runs.back().count += count;
        else
            runs.runs.push_back({first, count, stale});
    };
    for (std::uint64_t row = 0; row < rows.count; ++row) {
        const std::uint64_t address = rows.address_of(row), first = row * rows.in_row;
        if (access.lanes == nullptr) {
            bytes_selected += rows.in_row;
        } else {
            for (std::uint64_t i = 0; i < rows.in_row; ++i) bytes_selected += rows.selected(first + i) ? 1 : 0;
        }
        each_unwritten(access.memory, address, rows.in_row * rows.element,
                       [&](std::uint64_t begin, std::uint64_t bytes, bool stale) {
                           const std::uint64_t from = (begin - address) / rows.element;
                           const std::uint64_t to = (begin - address + bytes + rows.element - 1) / rows.element;
                           if (access.lanes == nullptr) {
                               add(first + from, to - from, stale);
                               return;
                           }
                           for (std::uint64_t i = from; i < to; ++i)
                               if (rows.selected(first + i)) add(first + i, 1, stale);
                       });
    }
    runs.all = bytes_found == bytes_selected;
    return runs;
}

// Marks the elements of `to` that are made of unwritten ones of `from`.
void Init::apply(const Runs& runs, const CanopyCheckAccess& from, const CanopyCheckAccess& to) {
    const OperandRows source(from), target(to);
    const bool by_element = source.elements() == target.elements();
    const bool by_row = !by_element && from.lanes == nullptr && to.lanes == nullptr && source.count == target.count;
    const auto mark_elements = [&](std::uint64_t row, std::uint64_t first, std::uint64_t count, bool stale) {
        if (first >= target.in_row) return;
        count = std::min(count, target.in_row - first);
        const std::uint64_t address = target.address_of(row);
        if (to.lanes == nullptr) {
            mark(to.memory, address + first * target.element, count * target.element, stale);
            return;
        }
        for (std::uint64_t i = first; i < first + count; ++i)
            if (target.selected(row * target.in_row + i))
                mark(to.memory, address + i * target.element, target.element, stale);
    };
    if (!by_element && !by_row) {
        // Which elements belong together is not known; what is partly written is not held against anyone.
        if (!runs.all) return;
        for (std::uint64_t row = 0; row < target.count; ++row)
            mark_elements(row, 0, target.in_row, runs.runs.front().stale);
        return;
    }
    for (const Run& run : runs.runs) {
        const std::uint64_t in_row = by_element ? target.in_row : source.in_row;
        for (std::uint64_t at = run.first; at < run.first + run.count;) {
            const std::uint64_t row = at / in_row, first = at % in_row;
            const std::uint64_t count = std::min(in_row - first, run.first + run.count - at);
            mark_elements(row, first, count, run.stale);
            at += count;
        }
    }
}

void Init::remember(const Told& told, const CanopyCheckAccess& from, const CanopyCheckAccess& to) {
    if (to.memory == CANOPY_MEMORY_GLOBAL) return;
    const Extent extent = extent_of(to);
    for (const Carried& known : carried_)
        if (known.begin == extent.begin && known.end == extent.end && known.site.line == told.operation.site.line &&
            known.site.file == told.operation.site.file)
            return;
    carried_[carried_count_++ % carried_.size()] = {
        .begin = extent.begin,
        .end = extent.end,
        .from = from.memory == CANOPY_MEMORY_GLOBAL ? walk::address_of(from) : 0,
        .site = told.operation.site,
        .pipe = told.operation.pipe,
        .number = told.number};
}

// ---- findings ------------------------------------------------------------------------------------------------------

// Where bytes that nobody has written come from; false: there is no place to name.
bool Init::origin_of(const CanopyCheckAccess& access, std::uint64_t address, Reports::Side& side, std::string& text) {
    if (access.memory == CANOPY_MEMORY_GLOBAL) {
        const AllocationFacts* const allocation = allocations_.find(address);
        if (allocation == nullptr) return false;
        text = fmt::format("nobody has written them since the allocation of {} bytes at {:#x} was made",
                           allocation->size, allocation->address);
        side = {.site = core_.launch.origins.site_of(allocation->origin),
                .address = allocation->address,
                .bytes = allocation->size};
        return true;
    }
    for (std::size_t i = 1; i <= std::min(carried_count_, carried_.size()); ++i) {
        const Carried& carried = carried_[(carried_count_ - i) % carried_.size()];
        if (address < carried.begin || address >= carried.end) continue;
        text = "an operation has made them of others that nobody had written";
        if (carried.from != 0) {
            text = "a copy has brought them from global memory, where nobody had written them";
            if (const AllocationFacts* const allocation = allocations_.find(carried.from))
                if (!allocation->origin.empty()) text += ": " + allocation->origin;
        }
        side = {.site = carried.site, .pipe = carried.pipe, .core = &core_, .number = carried.number};
        return true;
    }
    text = "nobody has written them since the block began";
    return false;
}

void Init::report(const Told& told, const CanopyCheckAccess& access, const Found& found, const char* id) {
    std::uint64_t address = found.first;
    if (access.memory != CANOPY_MEMORY_GLOBAL)
        if (const auto place = core_.locate(address)) address = place->offset;
    const Reports::Side here{.site = told.operation.site,
                             .operand = access.operand,
                             .access = CANOPY_CHECK_READ,
                             .pipe = told.operation.pipe,
                             .core = &core_,
                             .address = address,
                             .bytes = found.bytes,
                             .number = told.number};
    Reports::Side origin;
    std::string text;
    const bool has_origin = origin_of(access, found.first, origin, text);
    Level level = Level::error;
    if (found.stale && access.memory != CANOPY_MEMORY_GLOBAL) {
        id = "init.stale";
        level = Level::warning;
        text = "they are from before AllocTensor: this round has not written them";
    }
    std::string headline = fmt::format("uninitialized read of size {}", found.bytes);
    if (has_origin)
        core_.launch.reports.add(level, id, nullptr, access.memory, std::move(headline), std::move(text), "",
                                 {origin, here});
    else
        core_.launch.reports.add(level, id, nullptr, access.memory, std::move(headline), std::move(text), "", {here});
}

}  // namespace canopy::check
