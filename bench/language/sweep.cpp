// SPDX-License-Identifier: Apache-2.0
// Every vector operation of the kernel language on 8,192 elements of local memory against a plain loop, in one process,
// in turns. The table has one row for each form and one for each operation beyond its limit; the JSON file has all.
#include "language/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>

#include "harness/topics.h"

namespace bench {
namespace {

constexpr int operands = 5;  // in the order of SweepMemory
constexpr double limit_of_counts = 1.3, limit_of_masks = 1.5;
constexpr int sweeps = 5;

template <class T, class Make>
void fill_with(unsigned char* memory, std::size_t bytes, const Make& make) {
    for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        const T value = make();
        std::memcpy(memory + i, &value, sizeof value);
    }
}

void fill_numbers(unsigned char* memory, std::size_t bytes, SweepData data, std::mt19937& random) {
    const auto number = [&] { return static_cast<float>(static_cast<int>(random() % 200001) - 100000) / 12500.0f; };
    const auto bits = [&] {
        const float value = number();
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof word);
        return word;
    };
    switch (data) {
        case SweepData::floats:
            return fill_with<float>(memory, bytes, number);
        case SweepData::halves:
            return fill_with<std::uint16_t>(memory, bytes, [&] { return aclFloatToFloat16(number()); });
        case SweepData::bfloats:
            return fill_with<std::uint16_t>(memory, bytes, [&] { return static_cast<std::uint16_t>(bits() >> 16); });
        case SweepData::int8:
            return fill_with<std::uint8_t>(memory, bytes, [&] { return static_cast<std::uint8_t>(random()); });
        case SweepData::int16:
            return fill_with<std::uint16_t>(memory, bytes, [&] { return static_cast<std::uint16_t>(random()); });
        case SweepData::int32:
            return fill_with<std::uint32_t>(memory, bytes, [&] { return static_cast<std::uint32_t>(random()); });
        case SweepData::int64:
            return fill_with<std::int64_t>(memory, bytes, [&] { return static_cast<std::int32_t>(random()); });
        case SweepData::sorted:
            constexpr std::size_t queue = 512 * 2 * sizeof(float);
            for (std::size_t i = 0; i + queue <= bytes; i += queue) {
                std::vector<float> scores(512);
                for (float& score : scores) score = number();
                std::sort(scores.begin(), scores.end(), std::greater<>());
                for (std::size_t k = 0; k < scores.size(); ++k)
                    std::memcpy(memory + i + 2 * k * sizeof(float), &scores[k], sizeof(float));
            }
            return;
    }
}

// The destination is zero; c has byte offsets of elements; the work space has offsets of blocks, then random bits.
void fill_inputs(unsigned char* inputs, SweepData data, unsigned seed) {
    std::mt19937 random(seed);
    std::memset(inputs, 0, sweep_bytes);
    fill_numbers(inputs + sweep_bytes, 2 * sweep_bytes, data, random);
    const std::uint32_t size = data == SweepData::halves ? 2 : 4;
    fill_with<std::uint32_t>(inputs + 3 * sweep_bytes, sweep_bytes,
                             [&] { return static_cast<std::uint32_t>(random() % sweep_elements * size); });
    unsigned char* work = inputs + 4 * sweep_bytes;
    fill_with<std::uint32_t>(work, 8192, [&] { return static_cast<std::uint32_t>(random() % 512 * 32); });
    fill_with<std::uint32_t>(work + 8192, sweep_bytes - 8192, [&] { return static_cast<std::uint32_t>(random()); });
}

struct Result {
    std::vector<double> ours, loop, ratio;  // one of each for a sweep: medians of its rounds
};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

// Medians of the rounds; a ratio is one of two measurements that follow each other.
void add_sweep(Result& result, const std::vector<double>& ticks, const StampClock& clock) {
    std::vector<double> ours, loop, ratio;
    for (std::size_t i = 0; i + 1 < ticks.size(); i += 2) {
        ours.push_back(clock.nanoseconds(1000) * ticks[i] / 1000);
        loop.push_back(clock.nanoseconds(1000) * ticks[i + 1] / 1000);
        ratio.push_back(ticks[i] / ticks[i + 1]);
    }
    result.ours.push_back(median(ours));
    result.loop.push_back(median(loop));
    result.ratio.push_back(median(ratio));
}

Row row_of(const SweepRow& operation, const Result& result, double limit) {
    const double ours = median(result.ours), loop = median(result.loop), ratio = median(result.ratio);
    return {"sweep",
            operation.name,
            nanoseconds_text(ours),
            fmt::format("<= {:.1f} x the loop", limit),
            "loop " + nanoseconds_text(loop),
            times_text(ratio),
            ratio <= limit ? Verdict::reached : Verdict::missed,
            {{"ours", ours}, {"loop", loop}, {"ratio", ratio}}};
}

void add_form(Environment& environment, const char* name, const char* what, double limit, const SweepRow* rows,
              const std::vector<Result>& results, bool masked, bool special) {
    std::vector<Row> beyond;
    std::vector<double> ratios;
    nlohmann::ordered_json numbers;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (rows[i].masked != masked || rows[i].special != special) continue;
        Row row = row_of(rows[i], results[i], limit);
        row.name = name;
        numbers[rows[i].name] = row.numbers;
        ratios.push_back(median(results[i].ratio));
        if (row.verdict != Verdict::reached) beyond.push_back(std::move(row));
    }
    const auto within = ratios.size() - beyond.size();
    environment.report.add({name, what, fmt::format("{} of {} within the limit", within, ratios.size()),
                            fmt::format("all <= {:.1f} x", limit), "plain loops",
                            fmt::format("median {:.2f} x", median(ratios)),
                            beyond.empty() ? Verdict::reached : Verdict::missed, std::move(numbers)});
    for (Row& row : beyond) environment.report.add(std::move(row));
}

}  // namespace

void measure_sweep(Environment& environment) {
    std::uint32_t count = 0;
    const SweepRow* const rows = sweep_rows(count);
    if (sweep_calls() != count) throw std::runtime_error("the calls and the loops of the sweep differ in number");
    const StampClock clock;
    const Stream stream;
    const DeviceMemory inputs(operands * sweep_bytes), device(sweep_bytes), ticks(2 * sweep_rounds * sizeof(double));
    std::vector<unsigned char> filled(operands * sweep_bytes);
    std::vector<Result> results(count);
    for (int sweep = 0; sweep < environment.options.rounds(sweeps); ++sweep)
        for (std::uint32_t i = 0; i < count; ++i) {
            fill_inputs(filled.data(), rows[i].data, 1 + static_cast<unsigned>(sweep));
            BENCH_CHECK(
                aclrtMemcpy(inputs.get(), filled.size(), filled.data(), filled.size(), ACL_MEMCPY_HOST_TO_DEVICE));
            BENCH_CHECK(aclrtMemcpy(device.get(), sweep_bytes, filled.data() + sweep_bytes, sweep_bytes,
                                    ACL_MEMCPY_HOST_TO_DEVICE));
            BENCH_CHECK(launch_sweep(stream.get(), i, rows[i].loop, inputs.get(), device.get(), ticks.get()));
            stream.synchronise();
            add_sweep(results[i], ticks.read<double>(), clock);
        }
    add_form(environment, "sweep-count", "vector operations on 8,192 elements", limit_of_counts, rows, results, false,
             false);
    add_form(environment, "sweep-mask", "the same with mask and repeats", limit_of_masks, rows, results, true, false);
    add_form(environment, "sweep-special", "other strides, masks and lengths", limit_of_masks, rows, results, true,
             true);
}

}  // namespace bench
