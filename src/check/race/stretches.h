// SPDX-License-Identifier: Apache-2.0
// What one core touches in global memory: lists of stretches, since a shadow of all of it would be too large. A line
// that goes on where it ended, or with a constant step, extends its stretch; numbers stay exact for each row.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "check/model/core.h"

namespace canopy::check {

// Rows of equal size with a constant distance.
struct Rows {
    std::uint64_t begin = 0, bytes = 0, stride = 0;  // `bytes` of a row
    std::uint32_t count = 1;

    [[nodiscard]] std::uint64_t end() const { return begin + (count - 1) * stride + bytes; }
    [[nodiscard]] std::uint64_t row(std::uint32_t i) const { return begin + i * stride; }
    struct Range {
        std::uint32_t first = 0, last = 0;
    };
    // The rows that touch these bytes; nullopt: none.
    [[nodiscard]] std::optional<Range> touching(std::uint64_t from, std::uint64_t to) const;
};

struct Stretch {
    Rows rows;
    std::uint32_t rows_each = 1;  // of one instruction
    std::uint32_t instructions = 1;
    Number first = 0;        // of the first instruction
    std::uint64_t step = 0;  // from one to the next
    std::uint32_t line = 0;
    std::uint32_t known = 0;  // what the pipe knew of other cores: a place in Stretches::known()
    std::uint64_t epoch = 0;  // exchanges of the core with others so far
    // When it was, as far as cores can be compared: meetings and flags waited for, and instructions since the last one.
    std::uint32_t phase = 0;
    Number in_phase = 0;
    std::uint8_t pipe = 0;
    bool write = false;
    bool bypass = false;       // past the scalar data cache
    bool approximate = false;  // whole pages
    std::uint8_t atomic = 0, element_type = 0;
    bool dead = false, active = false, pending = false;

    [[nodiscard]] Number last() const { return first + (instructions - 1) * step; }
    [[nodiscard]] Number number_of_row(std::uint32_t row) const {
        return approximate ? last() : first + row / rows_each * step;
    }
    [[nodiscard]] unsigned entry() const { return pipe == CANOPY_CHECK_S ? scalar_on_global : pipe; }
};

// Two writes that may come in any order: both atomic, and of one kind.
bool combine(const Stretch& a, const Stretch& b);

class Stretches {
public:
    // `entries` counts those of all cores of the launch.
    Stretches(Core& core, std::atomic<std::uint64_t>& entries) : core_(core), entries_(entries) {}

    void access(const Told& told, const CanopyCheckAccess& access, bool write);

    [[nodiscard]] const Core& core() const { return core_; }
    [[nodiscard]] const std::vector<Stretch>& all() const { return all_; }
    [[nodiscard]] const KnownCores& known(const Stretch& stretch) const { return known_[stretch.known]; }
    [[nodiscard]] const Line& line(const Stretch& stretch) const { return core_.lines[stretch.line]; }

private:
    // Bytes without a stretch that the scalar unit would conflict with, as long as nothing changes.
    struct Gap {
        std::uint64_t begin = 0, end = 0, version = ~std::uint64_t{0};
    };

    bool go_on(const Told& told, const CanopyCheckAccess& access, bool write);
    void touch(const Told& told, const CanopyCheckAccess& access, const Rows& rows, bool write);
    void find_hazards(const Told& told, const Stretch& now);
    // Earlier writes of the same pipe up to `covered` are left out.
    Number compare(const Told& told, const Stretch& earlier, const Stretch& now, Number covered);
    void find_scalar_hazards(const Told& told, const Stretch& now);
    void report(const Told& told, const Stretch& earlier, const Stretch& now, Number number, std::uint64_t begin,
                std::uint64_t bytes);

    void add(const Stretch& now);
    bool extend(std::uint32_t place, const Stretch& now);
    void forget_repeated(Line& line, std::uint32_t place);
    void add_pages(const Stretch& now);
    void activate(std::uint32_t place);
    void prune();
    void prune(std::vector<std::uint32_t>& active, bool writes);
    void use_pipe(unsigned pipe, bool write);
    std::uint32_t known_place(unsigned pipe);

    Core& core_;
    std::atomic<std::uint64_t>& entries_;
    std::vector<Stretch> all_;
    std::vector<std::uint32_t> free_;
    // Not complete for all pipes that copy; and those that are, but maybe not for the scalar unit.
    std::array<std::vector<std::uint32_t>, 2> active_, pending_;  // reads, writes
    std::array<Gap, 2> gaps_;
    std::uint64_t version_ = 0;                    // of what the scalar unit may conflict with
    std::uint32_t pipes_ = 0, writing_pipes_ = 0;  // that have accessed global memory, without the scalar unit
    Number pruned_ = 0;
    std::vector<KnownCores> known_{nullptr};
    std::unordered_map<std::uint64_t, std::uint32_t> pages_;
};

}  // namespace canopy::check
