// SPDX-License-Identifier: Apache-2.0
// Use of bytes that nobody has written. Copies and element-wise operations carry along what is not written, since the
// ends of tiles hold anything; it is reported where it matters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/memory/allocations.h"
#include "check/memory/byte_bits.h"
#include "check/memory/written.h"
#include "check/model/core.h"

namespace canopy::check {

class Init {
public:
    Init(Core& core, Allocations& allocations);

    void operation(const Told& told);
    // AllocTensor has returned [begin, end): what is there is from another round.
    void taken(std::uint64_t begin, std::uint64_t end);

private:
    // The bytes of one local memory. A byte may be written in an earlier round only: it is not written, but stale.
    struct LocalBytes {
        std::uint64_t base = 0;
        ByteBits written, stale;
    };
    // A part that nobody has written, of element `first` on, in elements of its operand; rows of `row` bytes.
    struct Run {
        std::uint64_t first = 0, count = 0;
        bool stale = false;
    };
    struct Runs {
        std::vector<Run> runs;
        bool all = false;  // every byte of the operand
    };
    // A copy that has brought bytes that nobody had written.
    struct Carried {
        std::uint64_t begin = 0, end = 0;  // to
        std::uint64_t from = 0;            // in global memory, else 0
        CanopyCheckSite site{};
        std::uint8_t pipe = 0;
        Number number = 0;
    };
    struct Found {
        std::uint64_t first = 0, bytes = 0;
        bool stale = true;  // all of them
    };

    void use(const Told& told);
    void carry(const Told& told);
    void write_all(const Told& told);
    [[nodiscard]] bool is_written(const CanopyCheckAccess& access);
    void write(const CanopyCheckAccess& access);

    LocalBytes* local(std::uint8_t memory, std::uint64_t address);
    template <class Visit>
    void each_unwritten(std::uint8_t memory, std::uint64_t begin, std::uint64_t bytes, Visit visit);
    void mark(std::uint8_t memory, std::uint64_t begin, std::uint64_t bytes, bool stale);
    Found find(const CanopyCheckAccess& access, std::uint64_t unit);
    Runs runs_of(const CanopyCheckAccess& access);
    void apply(const Runs& runs, const CanopyCheckAccess& from, const CanopyCheckAccess& to);
    void remember(const Told& told, const CanopyCheckAccess& from, const CanopyCheckAccess& to);

    void check_copied_out(const Told& told, const CanopyCheckAccess& from);
    void check_atomic(const Told& told, const CanopyCheckAccess& to);
    void report(const Told& told, const CanopyCheckAccess& access, const Found& found, const char* id);
    [[nodiscard]] bool origin_of(const CanopyCheckAccess& access, std::uint64_t address, Reports::Side& side,
                                 std::string& text);

    Core& core_;
    Allocations& allocations_;
    WrittenBytes* const global_;
    std::array<LocalBytes, CANOPY_MEMORY_COUNT> local_;
    std::array<Carried, 64> carried_{};
    std::size_t carried_count_ = 0;
};

}  // namespace canopy::check
