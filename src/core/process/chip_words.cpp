// SPDX-License-Identifier: Apache-2.0
#include "core/process/chip_words.h"

#include <utility>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/device_facts.h"
#include "core/process/runtime.h"

namespace canopy {
namespace {

struct Word {
    std::string_view section;
    std::string_view key;
    std::string value;
};

// A fact that aclplatformGetDeviceInfo also reports, by its number there.
std::string fact(std::int32_t number) {
    Result<std::string> text = platform_fact(number);
    return text.ok() ? std::move(*text) : std::string();
}

std::vector<Word> all_words() {
    const Chip& chip = *Runtime::instance().settings().chip;
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    return {
        {"version", "SoC_version", std::string(chip.name)},
        {"version", "Short_SoC_version", std::string(chip.family)},
        {"version", "AIC_version", fact(14)},
        {"version", "NpuArch", number(chip.architecture)},
        {"SoCInfo", "ai_core_cnt", number(chip.cube_cores)},
        {"SoCInfo", "cube_core_cnt", number(chip.cube_cores)},
        {"SoCInfo", "vector_core_cnt", number(chip.vector_cores)},
        {"SoCInfo", "ai_cpu_cnt", number(chip.cpu_cores)},
        {"SoCInfo", "memory_type", fact(16)},
        {"SoCInfo", "memory_size", fact(5)},
        {"SoCInfo", "l2_size", number(chip.l2_cache)},
        {"AICoreSpec", "cube_freq", fact(6)},
        {"AICoreSpec", "ub_size", number(chip.unified_buffer)},
        {"AICoreSpec", "l0_a_size", number(chip.l0a_buffer)},
        {"AICoreSpec", "l0_b_size", number(chip.l0b_buffer)},
        {"AICoreSpec", "l0_c_size", number(chip.l0c_buffer)},
        {"AICoreSpec", "l1_size", number(chip.l1_buffer)},
        {"VectorCoreSpec", "vec_freq", fact(7)},
        {"VectorCoreSpec", "ub_size", number(chip.unified_buffer)},
    };
}

}  // namespace

Result<std::string> chip_word(std::string_view section, std::string_view key) {
    std::string known;
    for (Word& word : all_words()) {
        if (word.section == section && word.key == key) return std::move(word.value);
        known += fmt::format("{}{}.{}", known.empty() ? "" : ", ", word.section, word.key);
    }
    return fail(code::param_invalid, "unknown key {} in section {}; known keys: {}", key, section, known);
}

}  // namespace canopy
