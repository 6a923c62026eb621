// SPDX-License-Identifier: Apache-2.0
#include "core/process/variables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace canopy {
namespace {

constexpr std::string_view prefix = "CANOPY_";
// Tests and benchmarks may pass anything to their own programs.
constexpr std::string_view free_prefixes[] = {"CANOPY_TEST_", "CANOPY_BENCH_"};

constexpr std::string_view names[] = {
    // settings.cpp
    "CANOPY_BLACKBOX", "CANOPY_CACHE_DIR", "CANOPY_CACHE_SIZE", "CANOPY_CHECK", "CANOPY_CHECK_OPTIONS", "CANOPY_CHIP",
    "CANOPY_CPU_CORES", "CANOPY_CPU_KERNELS", "CANOPY_CPU_PINNING", "CANOPY_DEVICE", "CANOPY_DEVICE_COUNT",
    "CANOPY_DEVICE_MEMORY", "CANOPY_FUSION", "CANOPY_FUSION_CHECK", "CANOPY_PROFILE", "CANOPY_PROFILE_WANT",
    "CANOPY_QUIET", "CANOPY_WORKERS",
    // elsewhere in the library
    "CANOPY_CC", "CANOPY_CC_FLAGS", "CANOPY_CLANG", "CANOPY_DUMP_EXCEPTION", "CANOPY_DUMP_EXCEPTION_BEFORE",
    "CANOPY_MSTX_EXCLUDE", "CANOPY_MSTX_INCLUDE", "CANOPY_RUN_DIR",
    // Python
    "CANOPY_KERNEL_META",
    // tests
    "CANOPY_SEED", "CANOPY_SEEDS", "CANOPY_STRESS_CALLS"};

// Edit distance: the number of letters to insert, delete or replace to turn one word into the other.
std::size_t distance(std::string_view one, std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < one.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < other.size(); ++j) {
            const std::size_t exchanged = diagonal + (one[i] == other[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string_view nearest(std::string_view name) {
    return *std::min_element(std::begin(names), std::end(names), [&](std::string_view one, std::string_view other) {
        return distance(name, one) < distance(name, other);
    });
}

bool is_free(std::string_view name) {
    return std::any_of(std::begin(free_prefixes), std::end(free_prefixes),
                       [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::optional<std::string_view> environment_variable(const char* name) noexcept {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string_view(value);
}

std::span<const std::string_view> known_variables() noexcept { return names; }

std::vector<std::string> unknown_variables(const char* const* environment) {
    std::vector<std::string> sentences;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry = *environment;
        const std::string_view name = entry.substr(0, entry.find('='));
        if (!name.starts_with(prefix) || is_free(name)) continue;
        if (std::find(std::begin(names), std::end(names), name) != std::end(names)) continue;
        sentences.push_back(
            fmt::format("{} is not a variable that Canopy reads; did you mean {}?", name, nearest(name)));
    }
    return sentences;
}

}  // namespace canopy
