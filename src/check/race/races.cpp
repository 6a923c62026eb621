// SPDX-License-Identifier: Apache-2.0
#include "check/race/races.h"

#include <fmt/core.h>

#include <algorithm>

#include "check/model/walk.h"
#include "check/model/wording.h"

namespace canopy::check {

namespace {

constexpr unsigned id_bits = 5;
constexpr unsigned pipe_bits = 3;
constexpr std::uint64_t unit_bytes = 512;

// Cells have three places for readers of different pipes.
unsigned reader_slot(unsigned memory, unsigned pipe) {
    switch (memory) {
        case CANOPY_MEMORY_UB:
            return pipe == CANOPY_CHECK_V ? 0 : pipe == CANOPY_CHECK_S ? 2 : 1;
        case CANOPY_MEMORY_L1:
            return pipe == CANOPY_CHECK_MTE1 ? 0 : pipe == CANOPY_CHECK_FIX ? 2 : 1;
        default:
            return pipe == CANOPY_CHECK_M ? 0 : pipe == CANOPY_CHECK_FIX ? 1 : 2;
    }
}

CellId limit(Number known, Number base) {
    return static_cast<CellId>((known <= base ? 0 : known - base) << id_bits | (cell_agents - 1));
}

bool vectors_in_order(std::uint32_t architecture) {
    return architecture == 3510 || architecture == 3003 || architecture == 3113;
}

std::uint64_t fractals(std::uint32_t n) { return (std::uint64_t{n} + 15) / 16; }

}  // namespace

void Races::operation(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    if (told.number - local_.base >= cell_numbers) clear_group();
    for (const bool write : {false, true}) {
        bool limits = false;
        for (std::uint32_t i = 0; i < operation.access_count; ++i) {
            const CanopyCheckAccess& access = operation.accesses[i];
            if ((access.kind & (write ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ)) == 0) continue;
            if (access.memory == CANOPY_MEMORY_GLOBAL || access.memory >= CANOPY_MEMORY_COUNT) continue;
            if (!limits) set_limits(told, write);
            limits = true;
            local(told, access, write);
        }
    }
}

// Only an order inside a pipe that hardware keeps; a barrier is not looked for.
bool Races::ordered_in_pipe(const CanopyCheckOperation& operation, bool write) const {
    switch (operation.pipe) {
        case CANOPY_CHECK_S:
            return true;
        case CANOPY_CHECK_V:
            return vectors_in_order(core_.launch.facts.architecture);
        case CANOPY_CHECK_M:
            return write || (operation.flags & CANOPY_CHECK_ACCUMULATES) == 0 ||
                   fractals(operation.m) * fractals(operation.n) >= 10;
        default:
            return false;
    }
}

void Races::set_limits(const Told& told, bool write) {
    const unsigned pipe = told.operation.pipe;
    const Clock& known = core_.order.known(pipe);
    const unsigned own = core_.in_group << pipe_bits;
    access_.id = static_cast<CellId>((told.number - local_.base) << id_bits | own | pipe);
    for (unsigned i = 0; i < CANOPY_CHECK_PIPES; ++i)
        access_.writes[own | i] = access_.reads[own | i] = limit(known.own[i], local_.base);
    // A pipe has read its operands before it writes for a later instruction.
    access_.reads[own | pipe] = always_complete;
    if (ordered_in_pipe(told.operation, write)) access_.writes[own | pipe] = always_complete;
    if (!core_.launch.shares_memories() || group_ == nullptr) return;
    for (unsigned other = 0; other < group_->size(); ++other) {
        const Races* races = (*group_)[other];
        if (races == nullptr || races == this) continue;
        for (unsigned i = 0; i < CANOPY_CHECK_PIPES; ++i) {
            const unsigned agent = other << pipe_bits | i;
            access_.writes[agent] = access_.reads[agent] =
                limit(find(known.others, races->core_.index, i), races->local_.base);
        }
    }
}

void Races::local(const Told& told, const CanopyCheckAccess& access, bool write) {
    unsigned memory = access.memory;
    Races* owner = this;
    std::uint64_t base = core_.facts.memory[memory].base;
    const auto address = reinterpret_cast<std::uint64_t>(access.address);
    if (address - base >= core_.facts.memory[memory].size) {
        const auto located = core_.locate(address);
        if (!located) return;
        memory = static_cast<unsigned>(located->memory);
        if (located->core != &core_) owner = (*group_)[located->core->in_group % group_->size()];
        base = located->core->facts.memory[memory].base;
    }
    access_.slot = reader_slot(memory, told.operation.pipe);
    CellHazards hazards;
    each_piece(access, [&](std::uint64_t begin, std::uint64_t bytes) {
        touch(told, *owner, memory, begin - base, begin - base + bytes, write, hazards);
    });
    for (unsigned i = 0; i < hazards.count; ++i) {
        CanopyCheckAccess reported = access;
        reported.memory = static_cast<std::uint8_t>(memory);
        report(told, reported, *owner, write, hazards.found[i]);
    }
}

void Races::touch(const Told& told, Races& owner, unsigned memory, std::uint64_t begin, std::uint64_t end, bool write,
                  CellHazards& hazards) {
    if (memory == CANOPY_MEMORY_L0C && (told.operation.unit_flag != 0 || !owner.unit_flags_.empty())) {
        touch_unit_flags(told, owner, begin, end, write, hazards);
        return;
    }
    Cells& cells = owner.local_.cells[memory];
    if (write) {
        cells.write(begin, end, access_, hazards);
    } else {
        cells.read(begin, end, access_, hazards);
    }
}

// Each 512 bytes of L0C have a bit. Products with a unit flag wait for 0 and leave 1 with 3; Fixpipe waits for 1 and
// leaves 0 with 3. So both are ordered where both use it.
void Races::touch_unit_flags(const Told& told, Races& owner, std::uint64_t begin, std::uint64_t end, bool write,
                             CellHazards& hazards) {
    const unsigned flag = told.operation.unit_flag;
    const std::uint64_t size = owner.core_.facts.memory[CANOPY_MEMORY_L0C].size;
    end = std::min(end, size);
    if (owner.unit_flags_.empty()) owner.unit_flags_.resize(size / unit_bytes + 1);
    const bool product = told.operation.pipe == CANOPY_CHECK_M;
    const unsigned other =
        core_.in_group << pipe_bits | static_cast<unsigned>(product ? CANOPY_CHECK_FIX : CANOPY_CHECK_M);
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next = std::min(end, (at / unit_bytes + 1) * unit_bytes);
        std::uint8_t& bit = owner.unit_flags_[at / unit_bytes];
        CellAccess access = access_;
        // A later operand of the same product finds the bit that it has set.
        const bool up = bit != 0 && !(product && write && unit_number_ == told.number);
        const bool used = flag != 0 || (up && !product);
        if (used) access.writes[other] = access.reads[other] = always_complete;
        if (product && flag != 0 && up) {
            report_unit_flag(told, "this product waits for a unit flag that no Fixpipe takes back", at, next - at);
            bit = 0;
        } else if (!product && flag != 0 && !up) {
            report_unit_flag(told, "Fixpipe waits for a unit flag that no product sets", at, next - at);
        } else if (!product && flag == 0 && up) {
            report_unit_flag(told, "the product sets a unit flag that Fixpipe does not take back", at, next - at);
            bit = 0;
        }
        Cells& cells = owner.local_.cells[CANOPY_MEMORY_L0C];
        if (write) {
            cells.write(at, next, access, hazards);
        } else {
            cells.read(at, next, access, hazards);
        }
        if (product && write && flag == 3) {
            bit = 1;
            unit_number_ = told.number;
            unit_site_ = told.operation.site;
        }
        if (!product && !write && flag == 3) bit = 0;
        at = next;
    }
}

void Races::report_unit_flag(const Told& told, const char* what, std::uint64_t begin, std::uint64_t bytes) {
    if (!core_.launch.options.classes.sync) return;
    core_.launch.reports.add(Level::error, "sync.unit-flag", nullptr, CANOPY_MEMORY_L0C,
                             "Unpaired unit flag detected at L0C",
                             fmt::format("{}: both need it, the product before the Fixpipe", what), "unitFlag",
                             {{.site = unit_site_,
                               .pipe = CANOPY_CHECK_M,
                               .core = &core_,
                               .address = begin,
                               .bytes = bytes,
                               .number = unit_number_},
                              {.site = told.operation.site,
                               .pipe = told.operation.pipe,
                               .core = &core_,
                               .address = begin,
                               .bytes = bytes,
                               .number = told.number}});
}

void Races::report(const Told& told, const CanopyCheckAccess& access, const Races& owner, bool write,
                   const CellHazards::Hazard& hazard) {
    const unsigned agent = hazard.earlier % cell_agents;
    Races& earlier = *(group_ == nullptr ? this : (*group_)[agent >> pipe_bits]);
    const Number number = earlier.local_.base + (hazard.earlier >> id_bits);
    const Line* line = earlier.core_.lines.at(number);
    const Accessor before{&earlier.core_, agent & ((1U << pipe_bits) - 1), hazard.earlier_wrote,
                          line == nullptr ? 0 : line->flags};
    const Accessor after{&core_, told.operation.pipe, write, told.operation.flags};
    const bool in_core = &earlier == this;
    const char* id = !in_core ? "race.group" : before.pipe == after.pipe ? "race.in-pipe" : "race.pipe";
    const char* kind = hazard_kind(before.wrote, after.wrote);
    const std::uint64_t address = owner.core_.facts.memory[access.memory].base + hazard.begin;
    const auto side = [&](const Accessor& who, const Line* of, const CanopyCheckSite& site, Number which) {
        const std::uint8_t how = who.wrote ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ;
        return Reports::Side{.site = site,
                             .operand = of == nullptr ? nullptr : of->operand_at(access.memory, how, address),
                             .access = how,
                             .pipe = static_cast<int>(who.pipe),
                             .core = who.core,
                             .address = hazard.begin,
                             .bytes = hazard.bytes,
                             .number = which};
    };
    std::array sides = {side(before, line, line == nullptr ? CanopyCheckSite{} : line->site, number),
                        side(after, nullptr, told.operation.site, told.number)};
    sides[1].operand = access.operand;
    Reports& reports = core_.launch.reports;
    if (!reports.count_again(id, kind, access.memory, sides)) {
        const Verdict verdict =
            in_core ? verdict_in_core(core_.launch, core_.order, before, after) : verdict_in_group(before, after);
        reports.add(verdict.level, id, kind, access.memory,
                    fmt::format("Potential {} hazard detected at {}", kind, memory_name(access.memory)),
                    verdict.explanation, verdict.missing, sides);
    }
    if (in_core && ordered_by_compiler(core_.launch, before, after))
        core_.order.add_edge(before.pipe, number, after.pipe);
}

void Races::clear_group() {
    for (Races* races : group_ == nullptr ? Group{this} : *group_) {
        if (races == nullptr) continue;
        for (Cells& cells : races->local_.cells) cells.clear();
        races->local_.base = races->core_.order.number() - (races == this ? 1 : 0);
    }
}

void Races::end() {
    const auto up = std::ranges::find(unit_flags_, 1);
    if (up == unit_flags_.end() || !core_.launch.options.classes.sync) return;
    core_.launch.reports.add(
        Level::error, "sync.unit-flag", nullptr, CANOPY_MEMORY_L0C, "Unpaired unit flag detected at L0C",
        "the product sets a unit flag that no Fixpipe has taken back when the kernel ends", "unitFlag",
        {{.site = unit_site_,
          .pipe = CANOPY_CHECK_M,
          .core = &core_,
          .address = static_cast<std::uint64_t>(up - unit_flags_.begin()) * unit_bytes,
          .bytes = unit_bytes,
          .number = unit_number_}});
}

}  // namespace canopy::check
