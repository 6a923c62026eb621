// SPDX-License-Identifier: Apache-2.0
// For topics that compare the data rate of kernels with that of rivals: images of kernels, their inputs and results,
// and rows of the table.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "harness/topics.h"

namespace bench {

// As many blocks as the chip has vector cores, as programs do.
inline std::uint32_t vector_cores() {
    std::int64_t cores = 0;
    BENCH_CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    return static_cast<std::uint32_t>(cores);
}

// An image of kernels whose arguments fill eight bytes each.
class KernelImage {
public:
    explicit KernelImage(const char* file) { BENCH_CHECK(aclrtBinaryLoadFromFile(file, nullptr, &binary_)); }
    ~KernelImage() { aclrtBinaryUnLoad(binary_); }
    KernelImage(const KernelImage&) = delete;
    KernelImage& operator=(const KernelImage&) = delete;

    template <class... Values>
    void run(const char* name, const Stream& stream, Values... values) const {
        run_blocks(name, blocks_, stream, values...);
    }
    template <class... Values>
    void run_blocks(const char* name, std::uint32_t blocks, const Stream& stream, Values... values) const {
        aclrtFuncHandle function = nullptr;
        BENCH_CHECK(aclrtBinaryGetFunction(binary_, name, &function));
        std::uint64_t slots[] = {(std::uint64_t)(values)...};
        BENCH_CHECK(
            aclrtLaunchKernelWithHostArgs(function, blocks, stream.get(), nullptr, slots, sizeof(slots), nullptr, 0));
        stream.synchronise();
    }

private:
    aclrtBinHandle binary_ = nullptr;
    std::uint32_t blocks_ = vector_cores();
};

inline void fill(void* memory, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    auto* values = static_cast<float*>(memory);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random() % 2001) / 500.0f - 2.0f;
}

// Device memory of the software NPU is memory of this process, so the rivals use the same pages.
inline float* floats(const DeviceMemory& memory) { return static_cast<float*>(memory.get()); }

inline void require_close(const std::vector<float>& ours, const float* theirs, const char* what) {
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (!(std::abs(ours[i] - theirs[i]) <= 1e-5f * (1 + std::abs(theirs[i]))))
            throw std::runtime_error(
                fmt::format("{}: element {} is {}, the loop says {}", what, i, ours[i], theirs[i]));
}

// The fastest rival by median. The values are rates, so larger is better.
inline const Contender& best_rival(const std::vector<Contender>& contenders) {
    const Contender* best = &contenders[1];
    for (std::size_t i = 2; i < contenders.size(); ++i)
        if (contenders[i].summary().p50 > best->summary().p50) best = &contenders[i];
    return *best;
}

inline void add_rate_row(Environment& environment, const char* name, const char* what,
                         std::vector<Contender>& contenders, double goal) {
    const Summary ours = contenders[0].summary();
    const Contender& best = best_rival(contenders);
    const double ratio = ours.p50 / best.summary().p50;
    std::string rivals;
    for (std::size_t i = 1; i < contenders.size(); ++i)
        rivals += (i > 1 ? "; " : "") + contenders[i].name + " " + rate_text(contenders[i].summary().p50);
    environment.report.add({name, what, rate_text(ours.p50), fmt::format(">= {:.1f} x {}", goal, best.name), rivals,
                            times_text(ratio) + " " + best.name, ratio >= goal ? Verdict::reached : Verdict::missed,
                            to_json(contenders)});
}

template <class Work>
Contender rate(const char* name, double bytes, Work work) {
    return {name, [=] {
                const std::uint64_t begin = now();
                work();
                return bytes / static_cast<double>(now() - begin);
            }};
}

}  // namespace bench
