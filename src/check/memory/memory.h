// SPDX-License-Identifier: Apache-2.0
// Whether the operands of an instruction are where the program may access them.
#pragma once

#include <cstdint>
#include <string>

#include "check/memory/allocations.h"
#include "check/model/core.h"
#include "check/sync/buffers.h"

namespace canopy::check {

class Memory {
public:
    Memory(Core& core, Buffers& buffers, Allocations& allocations)
        : core_(core), buffers_(buffers), allocations_(allocations) {}

    void operation(const Told& told);
    // A tensor at an address that the program chose.
    void placed(const CanopyCheckBuffer& event);
    // What the language found wrong with parameters: id is "memory.limit" or "memory.align".
    void misuse(const char* id, const char* text, const CanopyCheckSite& site);

private:
    // An operand of the instruction that is looked at.
    struct Operand {
        const Told& told;
        const CanopyCheckAccess& access;
        std::uint64_t begin, end;
    };

    void check_local(const Operand& operand);
    bool check_buffer(const Operand& operand);
    void check_global(const Operand& operand);
    bool check_allocation(const Operand& operand);
    void check_tensor(const Operand& operand, std::uint64_t tolerance);
    void check_overlap(const CanopyCheckOperation& operation, const Told& told);
    void reserve(const Operand& operand);
    void report_reserved(const Reports::Side& earlier, const Reports::Side& here);

    void report(const Operand& operand, const char* id, std::uint64_t bytes, std::string text,
                const Reports::Side* earlier = nullptr);
    [[nodiscard]] Reports::Side side_of(const Operand& operand) const;
    [[nodiscard]] Reports::Side side_of(const AllocationFacts& allocation) const;

    Core& core_;
    Buffers& buffers_;
    Allocations& allocations_;
    // What an instruction of the program needs for itself, and that instruction.
    std::uint64_t reserved_begin_ = 0, reserved_end_ = 0;
    Reports::Side reserved_by_;
};

}  // namespace canopy::check
