// SPDX-License-Identifier: Apache-2.0
#include "core/process/device_limits.h"

#include <array>
#include <atomic>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr std::size_t limit_count = 5;

struct LimitRow {
    const char* name;
    std::uint64_t standard;
    std::uint64_t least;
    std::uint64_t most;
    std::uint64_t step;  // values must be multiples of it, or are rounded up to one
    bool rounds;
    bool needs_simt;
};

// By DeviceLimit. The maximum SIMD stack size comes from the chip.
constexpr std::array<LimitRow, limit_count> rows = {{
    {"SIMT_STACK_SIZE", 1024, 128, 1u << 20, 128, true, true},
    {"SIMT_DVG_WARP_STACK_SIZE", 1024, 128, 1u << 20, 128, true, true},
    {"SIMD_STACK_SIZE", 32768, stack_step, 192u << 10, stack_step, false, false},
    {"SIMD_PRINTF_FIFO_SIZE_PER_CORE", 32768, smallest_fifo, largest_fifo, 8, true, false},
    {"SIMT_PRINTF_FIFO_SIZE", 2u << 20, smallest_fifo, largest_fifo, 8, true, true},
}};

// 0: the row's standard value.
std::array<std::atomic<std::uint64_t>, limit_count> values{};

constexpr std::size_t index_of(DeviceLimit limit) { return static_cast<std::size_t>(limit); }

std::uint64_t rounded(const LimitRow& row, std::uint64_t value) {
    return row.rounds ? (value + row.step - 1) / row.step * row.step : value;
}

Result<std::size_t> find_row(std::int32_t limit) {
    if (limit < 0 || limit >= static_cast<std::int32_t>(limit_count))
        return fail(code::invalid_parameter, "limit {} is not a device limit", limit);
    const Chip& chip = *Runtime::instance().settings().chip;
    if (rows[static_cast<std::size_t>(limit)].needs_simt && !chip.simt)
        return fail(code::not_supported, "{} has no SIMT cores, so limit {} has no meaning", chip.name,
                    rows[static_cast<std::size_t>(limit)].name);
    return static_cast<std::size_t>(limit);
}

}  // namespace

Status set_device_limit(std::int32_t limit, std::size_t value) {
    const auto index = find_row(limit);
    if (!index.ok()) return index.status();
    const LimitRow& row = rows[index.value()];
    const bool is_stack = index.value() == index_of(DeviceLimit::simd_stack);
    const std::uint64_t most = is_stack ? Runtime::instance().settings().chip->max_stack : row.most;
    if (value < row.least || value > most)
        return fail(code::invalid_parameter, "{} {} is not in [{}, {}]", row.name, value, row.least, most);
    if (!row.rounds && value % row.step != 0)
        return fail(code::invalid_parameter, "{} {} is not a multiple of {}", row.name, value, row.step);
    if (is_stack && !Runtime::instance().change_stack_size(static_cast<std::uint32_t>(value)))
        return fail(code::param_invalid, "{} can only be set before the first device is set", row.name);
    values[index.value()].store(rounded(row, value), std::memory_order_relaxed);
    return {};
}

Result<std::size_t> device_limit(std::int32_t limit) {
    const auto index = find_row(limit);
    if (!index.ok()) return index.status();
    const std::uint64_t value = values[index.value()].load(std::memory_order_relaxed);
    return static_cast<std::size_t>(value != 0 ? value : rows[index.value()].standard);
}

void configure_limit(DeviceLimit limit, std::uint64_t value) {
    const bool is_stack = limit == DeviceLimit::simd_stack;
    if (is_stack && !Runtime::instance().change_stack_size(static_cast<std::uint32_t>(value))) return;
    values[index_of(limit)].store(rounded(rows[index_of(limit)], value), std::memory_order_relaxed);
}

std::uint32_t device_cores(const DeviceRecord& record, CoreLimit kind) noexcept {
    const std::uint32_t limit = record.core_limit[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    if (limit != 0) return limit;
    const Chip& chip = *Runtime::instance().settings().chip;
    return kind == CoreLimit::cube ? chip.cube_cores : chip.vector_cores;
}

Status check_core_limit(const Chip& chip, CoreLimit kind, std::uint32_t cores) {
    const std::uint32_t most = kind == CoreLimit::cube ? chip.cube_cores : chip.vector_cores;
    if (cores >= 1 && cores <= most) return {};
    return fail(code::param_invalid, "value {} is not in [1, {}], the {} cores of {}", cores, most,
                kind == CoreLimit::cube ? "cube" : "vector", chip.name);
}

Result<CoreLimit> core_limit_of(std::int32_t number) {
    if (number != 0 && number != 1)
        return fail(code::param_invalid, "type {} is not a kind of core: 0 is cube, 1 is vector", number);
    return static_cast<CoreLimit>(number);
}

}  // namespace canopy
