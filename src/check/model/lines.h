// SPDX-License-Identifier: Apache-2.0
// The lines of one core's program, and which of them its latest instructions are from.
#pragma once

#include <canopy/kernel_check.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/model/order.h"
#include "check/model/walk.h"

namespace canopy::check {

// One call in the source, with the operands that it was last told with.
struct Line {
    struct Operand {
        const char* name = nullptr;
        std::uint8_t memory = 0, kind = 0;
        // Where it was in the latest instructions, by the last bits of their number.
        struct Recent {
            std::uint64_t begin = 0, end = 0;
        };
        std::array<Recent, 4> recent{};
    };

    CanopyCheckSite site{};
    std::uint8_t pipe = 0;
    std::uint32_t flags = 0;  // CanopyCheckOperationFlags
    std::array<Operand, 6> operands{};
    std::uint32_t operand_count = 0;
    // For the list of global memory: the stretch that each kind of access went on last, one more than its place.
    std::array<std::uint32_t, 4> stretches{};

    void told(Number number, const CanopyCheckOperation& operation) {
        pipe = operation.pipe;
        flags = operation.flags;
        operand_count = std::min(operation.access_count, static_cast<std::uint32_t>(operands.size()));
        for (std::uint32_t i = 0; i < operand_count; ++i) {
            const CanopyCheckAccess& access = operation.accesses[i];
            Operand& operand = operands[i];
            operand.name = access.operand;
            operand.memory = access.memory;
            operand.kind = access.kind;
            const Extent extent = extent_of(access);
            operand.recent[number % operand.recent.size()] = {extent.begin, extent.end};
        }
    }

    // The operand that touches `address` with an access of that kind; null: not known.
    [[nodiscard]] const char* operand_at(std::uint8_t memory, std::uint8_t kind, std::uint64_t address) const {
        const char* only = nullptr;
        for (std::uint32_t i = 0; i < operand_count; ++i) {
            const Operand& operand = operands[i];
            if (operand.memory != memory || (operand.kind & kind) == 0) continue;
            for (const Operand::Recent& recent : operand.recent)
                if (address >= recent.begin && address < recent.end) return operand.name;
            if (only == nullptr) only = operand.name;
        }
        return only;
    }
};

class Lines {
public:
    // The index of a site, the same for equal pointers and lines.
    std::uint32_t of(const CanopyCheckSite& site) {
        Recent& recent = recent_[hash(site) % recent_.size()];
        if (recent.index != 0 && same(recent.site, site)) return recent.index - 1;
        const auto [at, added] = known_.try_emplace(Key{site}, static_cast<std::uint32_t>(lines_.size()));
        if (added) {
            lines_.push_back(std::make_unique<Line>());
            lines_.back()->site = site;
        }
        recent = {site, at->second + 1};
        return at->second;
    }

    Line& operator[](std::uint32_t index) { return *lines_[index]; }

    // Keeps which line an instruction is from, for the latest ones.
    void told(Number number, std::uint32_t index, const CanopyCheckOperation& operation) {
        // Until it is full, a number is its own place.
        if (number >= ring_.size() && ring_.size() < ring_size) ring_.resize(std::max<std::size_t>(512, number * 2));
        if (ring_.size() > ring_size) ring_.resize(ring_size);
        ring_[number % ring_size] = index + 1;
        latest_ = number;
        lines_[index]->told(number, operation);
    }
    [[nodiscard]] const Line* at(Number number) const {
        if (number == 0 || number > latest_ || latest_ - number >= ring_size) return nullptr;
        const std::uint32_t index = ring_[number % ring_size];
        return index == 0 ? nullptr : lines_[index - 1].get();
    }

private:
    static constexpr std::size_t ring_size = std::size_t{1} << 17;

    static bool same(const CanopyCheckSite& a, const CanopyCheckSite& b) {
        return a.line == b.line && a.file == b.file && a.operation == b.operation;
    }
    static std::size_t hash(const CanopyCheckSite& site) {
        const auto operation = reinterpret_cast<std::uintptr_t>(site.operation);
        const auto file = reinterpret_cast<std::uintptr_t>(site.file);
        return site.line + operation * 31 + file * 17;
    }
    struct Key {
        CanopyCheckSite site;
        bool operator==(const Key& other) const { return same(site, other.site); }
    };
    struct Hash {
        std::size_t operator()(const Key& key) const { return hash(key.site) * 0x9E3779B97F4A7C15U; }
    };
    struct Recent {
        CanopyCheckSite site{};
        std::uint32_t index = 0;  // one more
    };

    std::array<Recent, 64> recent_{};
    std::unordered_map<Key, std::uint32_t, Hash> known_;
    std::vector<std::unique_ptr<Line>> lines_;
    std::vector<std::uint32_t> ring_;
    Number latest_ = 0;
};

}  // namespace canopy::check
